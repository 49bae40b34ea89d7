// Pictures in tar files ("shards") as WebDataset arranges them (https://github.com/webdataset/webdataset):
// members that follow each other and have the same name up to the first dot of its last part are one sample,
// and what follows that dot, in lower case, says what the member is:
//   n01440764_10026.jpg     the picture: jpg, jpeg or png
//   n01440764_10026.cls     its label, as a decimal number
// Other members are passed over, and so are names without a dot, names like __this__, links and folders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/formats/name_list.h"
#include "data/formats/picture.h"
#include "data/source.h"

namespace lockstep::data {

struct TarShardsOptions {
  std::string name = "tar_shards";  ///< of the source, for messages
  /// Training takes <directory>/train/*.tar, or <directory>/*train*.tar if there is no such folder;
  /// evaluation "val" or else "test" in the same way.
  std::string directory = {};
  Split split = Split::kTrain;
  int64_t classes = 0;  ///< at least 1: shards do not say how many there are
  PictureShape picture = {};
};

/// Opening reads the headers of all shards, in byte order of their names, and the labels; samples are in the
/// order of the shards. Pictures are read when they are asked for, wherever they are, so that shuffling is
/// exact, and any number of ranks can share any number of shards.
class TarShardsSource final : public DataSource {
 public:
  /// An empty shard is passed over with a note. Throws DataError naming the shard, and the sample or offset:
  /// a compressed shard, one that is cut short, a sample without picture or label or with two of them, or
  /// with two members of one kind, a label that is no class.
  explicit TarShardsSource(const TarShardsOptions& options);

  int64_t size() const override { return static_cast<int64_t>(samples_.size()); }
  const SampleSpec& spec() const override { return spec_; }
  /// Throws BadSample naming shard and member.
  void read(const SampleRequest& request) const override;

 private:
  struct Sample {
    int64_t offset;  ///< of the picture in its shard
    int64_t size;
    int32_t shard;
    int32_t label;
  };

  void index_shard(const std::string& path);

  TarShardsOptions options_;
  SampleSpec spec_;
  std::vector<std::string> shards_;
  std::vector<Sample> samples_;
  NameList names_;  ///< of the pictures
};

}  // namespace lockstep::data
