#include "train/model_file.h"

#include <sstream>

#include "train/safetensors.h"

namespace lockstep::train {
namespace {

std::string lines(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + '\n';
  return text;
}

const std::string& entry(const std::string& path, const SafetensorsMetadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  check<DataError>(found != metadata.end(), "model file", '"', path, "\" does not say its \"", key,
                   "\"; files that a training run wrote do");
  return found->second;
}

}  // namespace

void save_model(const std::string& path, models::Module& model, const data::SampleSpec& spec) {
  std::ostringstream input;
  for (const int64_t extent : spec.shape) input << (input.tellp() > 0 ? " " : "") << extent;
  SafetensorsMetadata metadata{{"format", "pt"},
                               {"input", input.str()},
                               {"input_dtype", to_text(spec.dtype)},
                               {"classes", std::to_string(spec.classes)}};
  if (!spec.class_names.empty()) metadata["class_names"] = lines(spec.class_names);
  save_safetensors(path, models::state_tensors(model), metadata);
}

data::SampleSpec read_model_spec(const std::string& path) {
  const SafetensorsMetadata metadata = SafetensorsFile(path).metadata();
  data::SampleSpec spec;
  spec.name = path;
  std::istringstream input(entry(path, metadata, "input"));
  for (int64_t extent = 0; input >> extent;) {
    check<DataError>(extent > 0 && spec.shape.ndim() < Shape::kMaxDims, "model file", '"', path,
                     "\": \"input\": expected a few numbers above 0, got ", input.str());
    spec.shape.push_back(extent);
  }
  const std::string& dtype = entry(path, metadata, "input_dtype");
  for (const DType known : {DType::kU8, DType::kF32, DType::kI64}) {
    if (dtype == to_text(known)) spec.dtype = known;
  }
  std::istringstream(entry(path, metadata, "classes")) >> spec.classes;
  check<DataError>(spec.classes > 0 && spec.classes <= (1 << 20), "model file", '"', path,
                   "\": \"classes\": expected a number above 0, got ", entry(path, metadata, "classes"));
  if (metadata.contains("class_names")) {
    std::istringstream names(metadata.at("class_names"));
    for (std::string name; std::getline(names, name);) spec.class_names.push_back(name);
  }
  return spec;
}

}  // namespace lockstep::train
