// Writes Fashion-MNIST as a folder of grey JPEG files of quality 95, as the source "image_folder" reads them:
//   make_image_folder DIRECTORY [IMAGES PER SPLIT]
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <string>

#include "data/formats/table.h"
#include "tests/data/pictures.h"
#include "tests/data/read_label.h"

namespace {

using namespace lockstep::data;

std::string file_name(int64_t index) {
  std::ostringstream name;
  name << std::setw(5) << std::setfill('0') << index << ".jpg";
  return name.str();
}

void write_split(const std::filesystem::path& folder, Split split, int64_t most) {
  const auto source = open_source({.name = "fashion_mnist", .split = split});
  const lockstep::Shape& shape = source->spec().shape;
  Raster image{shape[1], shape[2], 1};
  image.values.resize(static_cast<size_t>(shape.count()));
  const int64_t count = std::min(most, source->size());
  for (int64_t index = 0; index < count; ++index) {
    const int64_t label = read_label(*source, index, image.values.data());
    const std::filesystem::path class_folder = folder / std::to_string(label);
    std::filesystem::create_directories(class_folder);
    std::ofstream file(class_folder / file_name(index), std::ios::binary);
    if (!(file << encode_jpeg(image)).flush())
      throw std::runtime_error("cannot write to " + class_folder.string());
  }
  std::printf("%s: %lld images\n", folder.c_str(), static_cast<long long>(count));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: make_image_folder DIRECTORY [IMAGES PER SPLIT]\n");
    return 2;
  }
  try {
    const std::filesystem::path directory(argv[1]);
    const int64_t most = argc == 3 ? std::stoll(argv[2]) : 60000;
    write_split(directory / "train", Split::kTrain, most);
    write_split(directory / "val", Split::kTest, most);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_image_folder: %s\n", error.what());
    return 1;
  }
  return 0;
}
