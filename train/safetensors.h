// Tensors in files of the safetensors format, which PyTorch, Hugging Face and torchvision tools open:
// u64 little-endian N, N bytes of JSON, then the tensors' bytes, little-endian and row-major, without gaps.
// https://github.com/huggingface/safetensors
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/parameter.h"
#include "train/files.h"

namespace lockstep::train {

/// Free text beside the tensors. Some readers want {"format", "pt"}.
using SafetensorsMetadata = std::map<std::string, std::string>;

/// Appends a whole file to `writer`. The order within the file is the reference implementation's (larger
/// element types first, then by name), so equal tensors give equal bytes. Throws InvalidArgument for a name
/// that occurs twice or is not UTF-8, and for one called "__metadata__".
void write_safetensors(FileWriter& writer, const std::vector<NamedTensor>& tensors,
                       const SafetensorsMetadata& metadata = {});

/// Replaces the file `path` as replace_file() does.
void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                      const SafetensorsMetadata& metadata = {});

/// One tensor of a file.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  uint64_t offset = 0;  ///< of the first byte in the file
  uint64_t nbytes = 0;
};

class SafetensorsFile {
 public:
  /// Reads and checks the header, no tensor. Throws DataError naming file and fault unless the file keeps
  /// every rule of the format and has only the element types of DType; nothing large is allocated before that
  /// is known.
  explicit SafetensorsFile(const std::string& path);

  const std::vector<SafetensorsEntry>& entries() const { return entries_; }  ///< in the order of the file
  const SafetensorsMetadata& metadata() const { return metadata_; }
  Tensor read(const SafetensorsEntry& entry) const;

 private:
  FileDescriptor file_;
  std::vector<SafetensorsEntry> entries_;
  SafetensorsMetadata metadata_;
};

/// All tensors of a file.
std::vector<NamedTensor> load_safetensors(const std::string& path);

}  // namespace lockstep::train
