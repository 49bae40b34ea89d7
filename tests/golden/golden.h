// Reads the golden values that make_golden.py wrote.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/error.h"
#include "runtime/tensor.h"

namespace lockstep::test {

/// The tensors of a safetensors file of the golden folder (dtypes F32, F64 and I64), by name.
inline std::map<std::string, Tensor> load_golden(const std::string& file_name) {
  const std::string path = std::string(LOCKSTEP_GOLDEN_FOLDER) + '/' + file_name;
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  uint64_t header_size = 0;
  check<DataError>(bytes.size() > sizeof header_size, "golden", "cannot read ", path);
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  const nlohmann::json header = nlohmann::json::parse(bytes.substr(sizeof header_size, header_size));
  const char* const data = bytes.data() + sizeof header_size + header_size;

  const std::map<std::string, DType> dtypes{{"F32", DType::kF32}, {"F64", DType::kF64}, {"I64", DType::kI64}};
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    Shape shape;
    for (const auto& extent : entry.at("shape")) shape.push_back(extent.get<int64_t>());
    const Tensor tensor = Tensor::empty(shape, dtypes.at(entry.at("dtype").get<std::string>()));
    std::memcpy(tensor.raw(), data + entry.at("data_offsets").at(0).get<size_t>(), tensor.nbytes());
    tensors.emplace(name, tensor);
  }
  return tensors;
}

}  // namespace lockstep::test
