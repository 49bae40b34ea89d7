#include "train/safetensors.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

namespace lockstep::train {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of the file

static_assert(std::endian::native == std::endian::little,
              "the format is little-endian, and so must be the machine");

constexpr const char* kOperation = "safetensors";
constexpr const char* kMetadata = "__metadata__";
constexpr uint64_t kLongestHeader = 100'000'000;

struct DTypeName {
  DType dtype;
  const char* name;
};
/// In the order in which the reference implementation writes tensors.
constexpr std::array kDTypeNames{DTypeName{DType::kI64, "I64"},   DTypeName{DType::kF64, "F64"},
                                 DTypeName{DType::kF32, "F32"},   DTypeName{DType::kI32, "I32"},
                                 DTypeName{DType::kBF16, "BF16"}, DTypeName{DType::kF16, "F16"},
                                 DTypeName{DType::kU8, "U8"}};

size_t position_of(DType dtype) {
  const auto found = std::find_if(kDTypeNames.begin(), kDTypeNames.end(),
                                  [&](const DTypeName& row) { return row.dtype == dtype; });
  return static_cast<size_t>(found - kDTypeNames.begin());
}

std::vector<const NamedTensor*> in_file_order(const std::vector<NamedTensor>& tensors) {
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const NamedTensor* a, const NamedTensor* b) {
    const size_t place_a = position_of(a->value.dtype());
    const size_t place_b = position_of(b->value.dtype());
    return std::tie(place_a, a->name) < std::tie(place_b, b->name);
  });
  return order;
}

uint64_t nbytes_of(const Tensor& tensor) {
  return static_cast<uint64_t>(tensor.count()) * size_of(tensor.dtype());
}

std::string header_of(const std::vector<const NamedTensor*>& order, const SafetensorsMetadata& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  uint64_t offset = 0;
  std::set<std::string> names;
  for (const NamedTensor* tensor : order) {
    check(tensor->name != kMetadata && names.insert(tensor->name).second, kOperation, "the name \"",
          tensor->name, "\" is reserved or given to two tensors");
    const Shape& shape = tensor->value.shape();
    const uint64_t end = offset + nbytes_of(tensor->value);
    header[tensor->name] = {{"dtype", kDTypeNames[position_of(tensor->value.dtype())].name},
                            {"shape", std::vector<int64_t>(shape.begin(), shape.end())},
                            {"data_offsets", {offset, end}}};
    offset = end;
  }
  try {
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    return text;
  } catch (const Json::exception& error) {
    throw InvalidArgument(to_text("[", kOperation, "] a name or metadata is not UTF-8: ", error.what()));
  }
}

/// Checks of a header that has been read; every error names the file.
class HeaderReader {
 public:
  explicit HeaderReader(const FileDescriptor& file) : file_(file) {}

  void read(std::vector<SafetensorsEntry>& entries, SafetensorsMetadata& metadata) const {
    const std::string text = read_text();
    const uint64_t data_begin = sizeof(uint64_t) + text.size();
    const uint64_t data_nbytes = file_.size() - data_begin;
    const nlohmann::json header = parse(text);
    for (const auto& [name, value] : header.items()) {
      if (name == kMetadata) {
        metadata = metadata_of(value);
      } else {
        entries.push_back(entry_of(name, value, data_nbytes));
      }
    }
    check_coverage(entries, data_nbytes);
    for (SafetensorsEntry& entry : entries) entry.offset += data_begin;
  }

 private:
  template <class... Parts>
  void demand(bool condition, const Parts&... parts) const {
    check<DataError>(condition, kOperation, '"', file_.path(), "\": ", parts...);
  }

  std::string read_text() const {
    const uint64_t size = file_.size();
    uint64_t length = 0;
    demand(size >= sizeof length, "truncated: ", size, " bytes are too few for the header's length");
    file_.read_at(0, &length, sizeof length);
    demand(length <= kLongestHeader, "the header has ", length, " bytes, at most ", kLongestHeader,
           " are allowed");
    demand(length <= size - sizeof length, "truncated: the header has ", length, " bytes, the file only ",
           size);
    std::string text(length, '\0');
    file_.read_at(sizeof length, text.data(), length);
    demand(text.starts_with('{'), "the header does not begin with '{'");
    return text;
  }

  nlohmann::json parse(const std::string& text) const {
    // The parser would keep the last of equal keys, and nest as deep as the text says.
    std::vector<std::set<std::string>> keys;
    const auto watch = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
      demand(depth <= 3, "the header nests deeper than a header does");
      if (event == nlohmann::json::parse_event_t::object_start) keys.emplace_back();
      if (event == nlohmann::json::parse_event_t::object_end) keys.pop_back();
      if (event == nlohmann::json::parse_event_t::key) {
        demand(keys.back().insert(value.get<std::string>()).second, "the name ", value.dump(),
               " occurs twice");
      }
      return true;
    };
    try {
      return nlohmann::json::parse(text, watch);
    } catch (const nlohmann::json::exception& error) {
      throw DataError(
          to_text("[", kOperation, "] \"", file_.path(), "\": the header is not JSON: ", error.what()));
    }
  }

  SafetensorsMetadata metadata_of(const nlohmann::json& value) const {
    demand(value.is_object(), kMetadata, " is not an object");
    SafetensorsMetadata metadata;
    for (const auto& [key, text] : value.items()) {
      demand(text.is_string(), kMetadata, ": \"", key, "\" is not a text");
      metadata[key] = text.get<std::string>();
    }
    return metadata;
  }

  SafetensorsEntry entry_of(const std::string& name, const nlohmann::json& value,
                            uint64_t data_nbytes) const {
    demand(value.is_object() && value.contains("dtype") && value.contains("shape") &&
               value.contains("data_offsets"),
           "tensor \"", name, "\" lacks dtype, shape or data_offsets");
    SafetensorsEntry entry;
    entry.name = name;
    entry.dtype = dtype_of(name, value["dtype"]);
    const uint64_t count = read_shape(name, value["shape"], entry.shape);

    const nlohmann::json& offsets = value["data_offsets"];
    demand(offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() &&
               offsets[1].is_number_unsigned(),
           "tensor \"", name, "\": data_offsets ", offsets.dump(), " are not two integers from 0 up");
    entry.offset = offsets[0].get<uint64_t>();
    const auto end = offsets[1].get<uint64_t>();
    demand(entry.offset <= end, "tensor \"", name, "\": data_offsets ", offsets.dump(), " are reversed");
    demand(end <= data_nbytes, "tensor \"", name, "\": data_offsets ", offsets.dump(), " reach beyond the ",
           data_nbytes, " bytes of data; the file may be truncated");
    entry.nbytes = end - entry.offset;
    demand(count == entry.nbytes / size_of(entry.dtype) && entry.nbytes % size_of(entry.dtype) == 0,
           "tensor \"", name, "\": ", entry.dtype, " ", entry.shape, " does not take the ", entry.nbytes,
           " bytes of its data_offsets");
    return entry;
  }

  DType dtype_of(const std::string& name, const nlohmann::json& value) const {
    for (const DTypeName& row : kDTypeNames) {
      if (value == row.name) return row.dtype;
    }
    throw DataError(to_text("[", kOperation, "] \"", file_.path(), "\": tensor \"", name, "\" has dtype ",
                            value.dump(),
                            ", which is not supported; supported: I64, F64, F32, I32, BF16, F16, U8"));
  }

  /// Returns the number of elements.
  uint64_t read_shape(const std::string& name, const nlohmann::json& value, Shape& shape) const {
    demand(value.is_array() && value.size() <= Shape::kMaxDims, "tensor \"", name, "\": shape ", value.dump(),
           " is not a list of at most ", Shape::kMaxDims, " integers");
    int64_t count = 1;
    for (const nlohmann::json& extent : value) {
      demand(extent.is_number_unsigned() && extent.get<uint64_t>() <= INT64_MAX, "tensor \"", name,
             "\": shape ", value.dump(), " has an extent that is not an integer from 0 up");
      shape.push_back(extent.get<int64_t>());
      demand(!__builtin_mul_overflow(count, extent.get<int64_t>(), &count), "tensor \"", name, "\": shape ",
             value.dump(), " has too many elements");
    }
    return static_cast<uint64_t>(count);
  }

  /// Sorts the entries by place; together they must cover the data once.
  void check_coverage(std::vector<SafetensorsEntry>& entries, uint64_t data_nbytes) const {
    std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
      return std::tie(a.offset, a.nbytes, a.name) < std::tie(b.offset, b.nbytes, b.name);
    });
    uint64_t covered = 0;
    for (const SafetensorsEntry& entry : entries) {
      demand(entry.offset >= covered, "tensor \"", entry.name, "\" overlaps the one before it");
      demand(entry.offset == covered, "a hole of ", entry.offset - covered, " bytes before tensor \"",
             entry.name, '"');
      covered += entry.nbytes;
    }
    demand(covered == data_nbytes, data_nbytes - covered, " bytes after the last tensor");
  }

  const FileDescriptor& file_;
};

}  // namespace

void write_safetensors(FileWriter& writer, const std::vector<NamedTensor>& tensors,
                       const SafetensorsMetadata& metadata) {
  const std::vector<const NamedTensor*> order = in_file_order(tensors);
  const std::string header = header_of(order, metadata);
  const uint64_t length = header.size();
  writer.append(&length, sizeof length);
  writer.append(header);
  for (const NamedTensor* tensor : order) {
    const Tensor plain = tensor->value.to(kCpu).contiguous();
    writer.append(plain.raw(), nbytes_of(plain));
  }
}

void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                      const SafetensorsMetadata& metadata) {
  replace_file(path, [&](FileWriter& writer) { write_safetensors(writer, tensors, metadata); });
}

SafetensorsFile::SafetensorsFile(const std::string& path) : file_(path, O_RDONLY) {
  HeaderReader(file_).read(entries_, metadata_);
}

Tensor SafetensorsFile::read(const SafetensorsEntry& entry) const {
  Tensor tensor = Tensor::empty(entry.shape, entry.dtype);
  if (entry.nbytes > 0) file_.read_at(entry.offset, tensor.raw(), entry.nbytes);
  return tensor;
}

std::vector<NamedTensor> load_safetensors(const std::string& path) {
  const SafetensorsFile file(path);
  std::vector<NamedTensor> tensors;
  for (const SafetensorsEntry& entry : file.entries()) tensors.push_back({entry.name, file.read(entry)});
  return tensors;
}

}  // namespace lockstep::train
