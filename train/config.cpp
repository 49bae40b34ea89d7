#include "train/config.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/error.h"
#include "train/nearest_name.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;
namespace pb = google::protobuf;

constexpr const char* kExtension = ".textproto";

/// Turns what the parser finds into lines "origin:line:column: text".
class MistakeCollector final : public pb::io::ErrorCollector {
 public:
  explicit MistakeCollector(std::string origin) : origin_(std::move(origin)) {}
  void AddError(int line, pb::io::ColumnNumber column, const std::string& message) override {
    text_ += to_text(text_.empty() ? "" : "\n", origin_, ':', line + 1, ':', column + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string origin_;
  std::string text_;
};

void set_default(pb::Message& message, const pb::FieldDescriptor& field) {
  using Type = pb::FieldDescriptor::CppType;
  const pb::Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case Type::CPPTYPE_INT32:
      return reflection.SetInt32(&message, &field, field.default_value_int32());
    case Type::CPPTYPE_INT64:
      return reflection.SetInt64(&message, &field, field.default_value_int64());
    case Type::CPPTYPE_UINT32:
      return reflection.SetUInt32(&message, &field, field.default_value_uint32());
    case Type::CPPTYPE_UINT64:
      return reflection.SetUInt64(&message, &field, field.default_value_uint64());
    case Type::CPPTYPE_FLOAT:
      return reflection.SetFloat(&message, &field, field.default_value_float());
    case Type::CPPTYPE_DOUBLE:
      return reflection.SetDouble(&message, &field, field.default_value_double());
    case Type::CPPTYPE_BOOL:
      return reflection.SetBool(&message, &field, field.default_value_bool());
    case Type::CPPTYPE_ENUM:
      return reflection.SetEnum(&message, &field, field.default_value_enum());
    case Type::CPPTYPE_STRING:
      return reflection.SetString(&message, &field, field.default_value_string());
    case Type::CPPTYPE_MESSAGE:
      break;
  }
}

void fill(pb::Message& message) {
  const pb::Reflection& reflection = *message.GetReflection();
  const pb::Descriptor& descriptor = *message.GetDescriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const pb::FieldDescriptor& field = *descriptor.field(i);
    if (field.is_repeated()) continue;
    if (field.cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
      fill(*reflection.MutableMessage(&message, &field));
    } else if (field.has_default_value() && !reflection.HasField(message, &field)) {
      set_default(message, field);
    }
  }
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  check<ConfigError>(file.good() && !fs::is_directory(path), "load_config", "cannot read \"", path.string(),
                     "\"");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TrainConfig default_config() {
  TrainConfig config;
  fill(config);
  return config;
}

void fill_defaults(TrainConfig& config) {
  fill(config);
}

std::vector<std::string> recipe_names(const std::string& recipes_folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(recipes_folder, ignored)) {
    if (entry.path().extension() == kExtension) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TrainConfig load_config(const std::string& recipe_or_file, const std::string& recipes_folder) {
  fs::path path = recipe_or_file;
  if (!path.has_parent_path() && path.extension() != kExtension) {
    path = fs::path(recipes_folder) / (recipe_or_file + kExtension);
    check<ConfigError>(fs::exists(path), "load_config", "no recipe \"", recipe_or_file, "\" in \"",
                       recipes_folder, "\"", known_names_hint(recipe_or_file, recipe_names(recipes_folder)));
  }
  return parse_config(read_text(path), path.string());
}

TrainConfig parse_config(const std::string& text, const std::string& origin) {
  TrainConfig config;
  parse_message(text, origin, config);
  fill(config);
  return config;
}

void parse_message(const std::string& text, const std::string& origin, pb::Message& message) {
  MistakeCollector mistakes(origin);
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&mistakes);
  check<ConfigError>(parser.ParseFromString(text, &message), "load_config", mistakes.text());
}

std::string config_text(const TrainConfig& config) {
  pb::TextFormat::Printer printer;
  printer.SetUseShortRepeatedPrimitives(true);
  std::string text;
  ensure(printer.PrintToString(config, &text), "config_text", "cannot print the configuration");
  return text;
}

std::vector<std::string> differences(const TrainConfig& from, const TrainConfig& to) {
  std::string report;
  pb::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&report);
  differencer.Compare(from, to);
  std::istringstream stream(report);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace lockstep::train
