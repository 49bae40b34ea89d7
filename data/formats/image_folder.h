// Pictures in folders, one for each class, as ImageNet is usually unpacked:
//   <directory>/train/<class>/<any name>.jpg      training
//   <directory>/val/<class>/<any name>.jpg        evaluation; "test" if there is no "val"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/formats/name_list.h"
#include "data/formats/picture.h"
#include "data/source.h"

namespace lockstep::data {

struct ImageFolderOptions {
  std::string name = "image_folder";  ///< of the source, for messages
  std::string directory = {};
  Split split = Split::kTrain;
  int64_t classes = 0;  ///< that there must be; 0: as many as there are folders
  PictureShape picture = {};
};

/// Classes are the folders, or links to folders, in byte order of their names, and samples are in byte order
/// of class and file name: the same on every machine. Plain files beside the class folders and all names that
/// begin with '.' are passed over. Inside a class folder, regular files named .jpg, .jpeg or .png in any case
/// are pictures; what else there is is left out, with a warning that counts it.
///
/// The names of all files are in memory, the pictures are read when they are asked for.
class ImageFolderSource final : public DataSource {
 public:
  /// Throws DataError naming what is missing: the folder of the split, a class without pictures, classes of
  /// evaluation that are not those of training, another number of classes than the options say.
  explicit ImageFolderSource(const ImageFolderOptions& options);

  int64_t size() const override { return files_.size(); }
  const SampleSpec& spec() const override { return spec_; }
  /// Throws BadSample naming the file.
  void read(const SampleRequest& request) const override;

 private:
  void list_class(const std::string& name);
  int64_t label_of(int64_t index) const;

  ImageFolderOptions options_;
  SampleSpec spec_;
  std::string folder_;
  NameList files_;
  std::vector<int64_t> class_ends_;  ///< by label: the samples before the next class
  int64_t left_out_ = 0;             ///< files that are no pictures
};

}  // namespace lockstep::data
