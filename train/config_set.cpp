#include "train/config_set.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <vector>

#include "runtime/error.h"
#include "train/nearest_name.h"

namespace lockstep::train {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

constexpr const char* kOperation = "--set";

std::vector<std::string> field_names(const pb::Descriptor& descriptor) {
  std::vector<std::string> names;
  for (int i = 0; i < descriptor.field_count(); ++i) names.push_back(descriptor.field(i)->name());
  return names;
}

bool is_group(const Field& field) {
  return field.cpp_type() == Field::CPPTYPE_MESSAGE;
}

/// Full paths of the fields anywhere below that have this name.
void find_by_name(const pb::Descriptor& descriptor, const std::string& prefix, const std::string& name,
                  std::vector<std::string>& found) {
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const Field& field = *descriptor.field(i);
    if (field.name() == name) found.push_back(prefix + name);
    if (is_group(field) && !field.is_repeated()) {
      find_by_name(*field.message_type(), prefix + field.name() + ".", name, found);
    }
  }
}

[[noreturn]] void throw_unknown(const std::string& path, const std::string& part, const pb::Descriptor& group,
                                const std::string& group_path) {
  std::vector<std::string> elsewhere;
  find_by_name(*TrainConfig::descriptor(), "", part, elsewhere);
  std::string guess = elsewhere.empty() ? nearest_name(part, field_names(group)) : joined(elsewhere);
  if (elsewhere.empty() && !guess.empty() && !group_path.empty()) guess = group_path + "." + guess;
  throw ConfigError(to_text("[", kOperation, "] ", path, ": there is no field \"", part, "\"",
                            guess.empty() ? "" : "; did you mean " + guess + "?", "; the fields ",
                            group_path.empty() ? "at the top" : "of " + group_path, " are ",
                            joined(field_names(group))));
}

/// "an integer", "one of REPRODUCIBLE, FAST", ...
std::string what_it_takes(const Field& field) {
  switch (field.cpp_type()) {
    case Field::CPPTYPE_INT32:
    case Field::CPPTYPE_INT64:
      return "an integer";
    case Field::CPPTYPE_UINT32:
    case Field::CPPTYPE_UINT64:
      return "an integer that is not negative";
    case Field::CPPTYPE_FLOAT:
    case Field::CPPTYPE_DOUBLE:
      return "a number";
    case Field::CPPTYPE_BOOL:
      return "true or false";
    case Field::CPPTYPE_STRING:
      return "a text";
    case Field::CPPTYPE_MESSAGE:
      return "{field: value ...} with " + joined(field_names(*field.message_type()));
    case Field::CPPTYPE_ENUM:
      break;
  }
  std::vector<std::string> names;
  for (int i = 0; i < field.enum_type()->value_count(); ++i)
    names.push_back(field.enum_type()->value(i)->name());
  return "one of " + joined(names);
}

/// Splits at the commas that are outside braces; an empty text has no parts.
std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  parts.emplace_back();
  int depth = 0;
  for (const char c : text) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// The parser would print its complaints to stderr; what_it_takes() says it better.
class Silent final : public pb::io::ErrorCollector {
  void AddError(int, pb::io::ColumnNumber, const std::string&) override {}
};

/// A field and the message that it is set in.
struct Target {
  pb::Message* group;
  const Field* field;
};

/// Walks down "optimizer.lr".
Target find_field(TrainConfig& config, const std::string& path) {
  pb::Message* group = &config;
  std::string group_path;
  size_t begin = 0;
  for (;;) {
    const size_t dot = path.find('.', begin);
    const std::string part = path.substr(begin, dot - begin);
    const Field* field = group->GetDescriptor()->FindFieldByName(part);
    if (field == nullptr) throw_unknown(path, part, *group->GetDescriptor(), group_path);
    if (dot == std::string::npos) return {group, field};

    group_path = path.substr(0, dot);
    check<ConfigError>(!field->is_repeated(), kOperation, path, ": ", group_path,
                       " is a list, which is set as a whole: expected ", what_it_takes(*field));
    check<ConfigError>(is_group(*field), kOperation, path, ": ", group_path, " has no fields: expected ",
                       what_it_takes(*field));
    group = group->GetReflection()->MutableMessage(group, field);
    begin = dot + 1;
  }
}

/// Sets a single field, or appends to a list.
void put(const Target& target, const std::string& path, const std::string& value) {
  const Field& field = *target.field;
  const pb::Reflection& reflection = *target.group->GetReflection();
  if (field.cpp_type() == Field::CPPTYPE_STRING) {  // as it is: the parser would want quotes around it
    if (field.is_repeated()) {
      reflection.AddString(target.group, &field, value);
    } else {
      reflection.SetString(target.group, &field, value);
    }
    return;
  }
  Silent silent;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&silent);
  check<ConfigError>(parser.ParseFieldValueFromString(value, &field, target.group), kOperation, path, " = \"",
                     value, "\": expected ", what_it_takes(field));
}

}  // namespace

void apply_set(TrainConfig& config, const std::string& assignment) {
  const size_t equals = assignment.find('=');
  check<ConfigError>(equals != std::string::npos && equals > 0, kOperation, "expected field=value, got \"",
                     assignment, "\"");
  const std::string path = assignment.substr(0, equals);
  const std::string value = assignment.substr(equals + 1);

  TrainConfig changed = config;
  const Target target = find_field(changed, path);
  if (target.field->is_repeated()) {
    target.group->GetReflection()->ClearField(target.group, target.field);
    for (const std::string& element : split_list(value)) put(target, path, element);
  } else if (is_group(*target.field)) {
    throw ConfigError(to_text("[", kOperation, "] ", path, " is a group of fields: set one of them, ", path,
                              ".x with x of ", joined(field_names(*target.field->message_type()))));
  } else {
    put(target, path, value);
  }
  config = changed;
}

}  // namespace lockstep::train
