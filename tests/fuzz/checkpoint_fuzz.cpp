// A checkpoint: weights, state of the optimizer, state of the run, and the manifest that vouches for them.
#include "train/checkpoint.h"

#include <google/protobuf/stubs/logging.h>

#include <nlohmann/json.hpp>

#include "tests/fuzz/safetensors_header.h"
#include "tests/fuzz/target.h"
#include "train/config.h"
#include "train/hash.h"

namespace lockstep::fuzz {
namespace {

const std::vector<std::string> kNames{"model.safetensors", "optimizer.safetensors", "state.pb",
                                      "average.safetensors", "manifest.json"};

void parse(const Bytes& input) {
  google::protobuf::SetLogHandler(nullptr);  // it would print that a text is not UTF-8
  const std::vector<Bytes> files = split_files(input, kNames.size());
  for (size_t i = 0; i < files.size(); ++i) write_scratch(kNames[i], files[i]);
  train::Checkpoint checkpoint = train::load_checkpoint(scratch_folder());
  train::fill_defaults(*checkpoint.state.mutable_config());
  train::config_text(checkpoint.state.config());
}

/// The last file: sizes and hashes of the others.
Bytes repair(const Bytes& input) {
  std::vector<Bytes> files = split_files(input, kNames.size());
  nlohmann::ordered_json manifest;
  for (size_t i = 0; i + 1 < files.size(); ++i) {
    if (kNames[i] != "state.pb" && !files[i].empty()) files[i] = with_header_length(files[i]);
    if (kNames[i] == "average.safetensors" && files[i].empty()) continue;
    train::Hash64 hash;
    hash.update(files[i].data(), files[i].size());
    manifest["files"][kNames[i]] = {{"nbytes", files[i].size()}, {"xxh3", train::to_hex(hash.value())}};
  }
  files.back() = manifest.dump(2) + '\n';
  return join_files(files);
}

std::vector<Bytes> seeds() {
  const Bytes weights =
      safetensors_file(R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", Bytes(24, '\1'));
  CheckpointState state;
  state.set_format_version(1);
  state.set_step(7);
  state.mutable_loss_scaler()->set_scale(1024);
  state.mutable_best()->set_value(0.5);
  state.add_class_names("cat");
  const Bytes small = state.SerializeAsString();
  *state.mutable_config() = train::default_config();
  const Bytes empty = safetensors_file("{}", "");
  return {repair(join_files({weights, empty, small, "", ""})),
          repair(join_files({weights, weights, state.SerializeAsString(), weights, ""})),
          repair(join_files({empty, empty, "", "", ""}))};
}

}  // namespace

const Target kTarget{
    .parse = parse,
    .seeds = seeds,
    .repair = repair,
    .words = {"{", "}", "[", "]", "\"", ",", ":", "null", "\"files\":", "\"average.safetensors\":{},",
              "\"xxh3\":", "\"nbytes\":", "\"shape\":", "\xff\xff\xff\xff\x0f", "\x0a\x80\x80\x80\x80\x08"}};

}  // namespace lockstep::fuzz
