// Tar files of pictures with labels.
#include "data/formats/tar_shards.h"

#include <filesystem>

#include "tests/data/pictures.h"
#include "tests/data/read_label.h"
#include "tests/data/tar_files.h"
#include "tests/fuzz/checksums.h"
#include "tests/fuzz/target.h"

namespace lockstep::fuzz {
namespace {

using data::TarDialect;
using data::TarEntry;

void parse(const Bytes& input) {
  write_scratch("train.tar", input);
  const data::TarShardsSource source(
      {.directory = scratch_folder(), .classes = 10, .picture = {.channels = 3, .size = 4}});
  std::vector<std::byte> image(static_cast<size_t>(source.spec().nbytes()));
  for (int64_t sample = 0; sample < std::min<int64_t>(source.size(), 4); ++sample)
    data::read_label(source, sample, image.data());
}

std::vector<Bytes> seeds() {
  const Bytes jpeg = data::encode_jpeg(data::landscape(8, 8, 3));
  const Bytes png = data::encode_png(data::landscape(8, 8, 1));
  const std::vector<TarEntry> plain{{"a.jpg", jpeg}, {"a.cls", "3"}, {"b.cls", " 4\n"}, {"b.png", png}};
  const std::vector<TarEntry> unusual{{"folder", "", TarEntry::kFolder},
                                      {"folder/a.b.txt", "text"},
                                      {"folder/a.jpg", jpeg},
                                      {"folder/a.cls", "3"},
                                      {"__x__", "passed over"},
                                      {"link.jpg", "", TarEntry::kLink},
                                      {"hard.jpg", "", TarEntry::kHardLink},
                                      {std::string(120, 'x') + "/long.PNG", png},
                                      {std::string(120, 'x') + "/long.cls", "9"}};
  std::vector<Bytes> inputs;
  for (const TarDialect dialect : {TarDialect::kPosix, TarDialect::kGnu, TarDialect::kOld})
    inputs.push_back(data::tar(plain, dialect));
  for (const TarDialect dialect : {TarDialect::kPosix, TarDialect::kGnu})
    inputs.push_back(data::tar(unusual, dialect));
  // A name that is UTF-8 in an extended header.
  Bytes umlaut = data::tar({{std::string(120, 'x') + ".jpg", jpeg}, {std::string(120, 'x') + ".cls", "0"}});
  for (size_t at = 0; (at = umlaut.find("path=xx", at)) != Bytes::npos; ++at)
    umlaut.replace(at, 7, "path=\xc3\xa4");
  inputs.push_back(umlaut);
  return inputs;
}

Bytes repair(const Bytes& input) {
  return with_tar_checksums(input);
}

}  // namespace

const Target kTarget{
    .parse = parse,
    .seeds = seeds,
    .repair = repair,
    .words = {"22 GNU.sparse.major=1\n", "24 GNU.sparse.map=0,512\n", "20 size=99999999999\n",
              "11 path=\xc3\xa4\n", "\x80\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "ustar", ".jpg",
              ".cls", "__", "/", "."}};

}  // namespace lockstep::fuzz
