#include "train/checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "build_config.h"
#include "runtime/log.h"
#include "train/safetensors.h"

namespace lockstep::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOperation = "checkpoint";
constexpr int kFormatVersion = 1;
constexpr const char* kPrefix = "step-";
constexpr const char* kPartial = ".partial";  // of a folder that is being written or removed
constexpr const char* kModel = "model.safetensors";
constexpr const char* kOptimizer = "optimizer.safetensors";
constexpr const char* kAverage = "average.safetensors";  // only of a run that keeps one
constexpr const char* kBest = "best.safetensors";        // likewise
constexpr const char* kState = "state.pb";
constexpr const char* kManifest = "manifest.json";

std::string folder_name(int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "%s%08lld", kPrefix, static_cast<long long>(step));
  return name;
}

/// The step of "step-00001234"; nothing for any other name.
std::optional<int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const char* begin = name.data() + std::char_traits<char>::length(kPrefix);
  const char* end = name.data() + name.size();
  int64_t step = 0;
  const auto [rest, error] = std::from_chars(begin, end, step);
  if (error != std::errc() || rest != end || folder_name(step) != name) return std::nullopt;
  return step;
}

/// Out of the list at once, then off the disk.
void discard(const fs::path& path) {
  const fs::path doomed = path.string() + kPartial;
  std::error_code error;
  fs::rename(path, doomed, error);
  if (!error) fs::remove_all(doomed, error);
  if (error) log::warning("cannot remove the old checkpoint \"", path.string(), "\": ", error.message());
}

/// What saves and removals that were killed left behind.
void remove_leftovers(const std::string& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(kPartial)) fs::remove_all(entry.path(), ignored);
  }
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw FileError("mkdir", path, error.value());
}

/// Writes the content of a checkpoint and returns when all of it is on the disk.
void write_files(const std::string& path, const Checkpoint& checkpoint, const FileOperations& files) {
  make_folder(path);
  nlohmann::ordered_json manifest;
  const auto write = [&](const char* name, const std::function<void(FileWriter&)>& write_content) {
    FileWriter writer(path + '/' + name, files);
    write_content(writer);
    const FileDigest digest = writer.finish();
    manifest["files"][name] = {{"nbytes", digest.nbytes}, {"xxh3", to_hex(digest.hash)}};
  };
  write(kModel, [&](FileWriter& writer) { write_safetensors(writer, checkpoint.model, {{"format", "pt"}}); });
  write(kOptimizer, [&](FileWriter& writer) { write_safetensors(writer, checkpoint.optimizer); });
  if (!checkpoint.average.empty()) {
    write(kAverage, [&](FileWriter& writer) { write_safetensors(writer, checkpoint.average); });
  }
  if (!checkpoint.best.empty()) {
    write(kBest, [&](FileWriter& writer) { writer.append_file(checkpoint.best); });
  }
  write(kState, [&](FileWriter& writer) {
    CheckpointState state = checkpoint.state;
    state.set_format_version(kFormatVersion);
    state.set_build(kBuildDescription);
    writer.append(state.SerializeAsString());
  });

  FileWriter writer(path + '/' + kManifest, files);
  writer.append(manifest.dump(2) + '\n');
  writer.finish();
  sync_folder(path, files);
}

/// Gives a complete folder its name. One that has the name already becomes a leftover in the same instant.
void publish(const std::string& partial, const std::string& path, const FileOperations& files) {
  if (fs::exists(path)) {
    if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) return;
    discard(path);  // a file system that cannot exchange two names
  }
  if (files.rename(partial.c_str(), path.c_str()) != 0) throw FileError("rename", path, errno);
}

void prune(const std::string& folder, int64_t saved_step, int keep) {
  std::vector<FoundCheckpoint> older;
  for (const FoundCheckpoint& found : list_checkpoints(folder)) {
    if (found.step > saved_step) discard(found.path);
    if (found.step < saved_step) older.push_back(found);
  }
  const auto surplus = static_cast<int64_t>(older.size()) - (keep - 1);
  for (int64_t i = 0; i < surplus; ++i) discard(older[static_cast<size_t>(i)].path);
}

nlohmann::json read_manifest(const std::string& path) {
  std::ifstream file(path + '/' + kManifest);
  check<DataError>(file.good(), kOperation, '"', path, "\": cannot read ", kManifest);
  try {
    return nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception& error) {
    throw DataError(to_text("[", kOperation, "] \"", path, "\": ", kManifest, " is damaged: ", error.what()));
  }
}

/// As far as the manifest tells it.
FileDigest expected_digest(const std::string& path, const nlohmann::json& manifest, const char* name) {
  try {
    const nlohmann::json& file = manifest.at("files").at(name);
    const auto hash = file.at("xxh3").get<std::string>();
    return {file.at("nbytes").get<uint64_t>(), std::stoull(hash, nullptr, 16)};
  } catch (const std::exception& error) {
    throw DataError(to_text("[", kOperation, "] \"", path, "\": ", kManifest, " does not describe ", name,
                            ": ", error.what()));
  }
}

/// For the files that only some runs have.
bool is_listed(const nlohmann::json& manifest, const char* name) {
  return manifest.is_object() && manifest.contains("files") && manifest["files"].contains(name);
}

CheckpointState read_state(const std::string& path) {
  CheckpointState state;
  std::ifstream file(path + '/' + kState, std::ios::binary);
  check<DataError>(state.ParseFromIstream(&file), kOperation, '"', path, "\": ", kState, " is damaged");
  check<DataError>(state.format_version() <= kFormatVersion, kOperation, '"', path, "\": format version ",
                   state.format_version(), " is newer than this program's, ", kFormatVersion,
                   "; it was written by ", state.build());
  return state;
}

}  // namespace

std::string save_checkpoint(const std::string& folder, const Checkpoint& checkpoint,
                            const SaveOptions& options) {
  const int64_t step = checkpoint.state.step();
  const std::string path = folder + '/' + folder_name(step);
  const std::string partial = path + kPartial;
  std::chrono::milliseconds pause = options.first_pause;
  std::string troubles;
  for (int attempt = 1;; ++attempt, pause *= 2) {
    try {
      make_folder(folder);
      remove_leftovers(folder);
      write_files(partial, checkpoint, options.files);
      publish(partial, path, options.files);
      sync_folder(folder, options.files);
      remove_leftovers(folder);
      break;
    } catch (const FileError& error) {
      if (!error.transient() || attempt >= options.attempts) {
        remove_leftovers(folder);  // a full disk needs the room
        throw Error(to_text("[", kOperation, "] step ", step, " is not saved, tried ", attempt,
                            " times: ", error.what(), "; earlier checkpoints are untouched"));
      }
      troubles = error.what();
    }
    std::this_thread::sleep_for(pause);
  }
  if (!troubles.empty()) log::warning("checkpoint of step ", step, " is saved, after trouble: ", troubles);
  prune(folder, step, options.keep);
  return path;
}

std::vector<FoundCheckpoint> list_checkpoints(const std::string& folder) {
  std::vector<FoundCheckpoint> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (const auto step = step_of(entry.path().filename().string()))
      found.push_back({entry.path().string(), *step});
  }
  std::sort(found.begin(), found.end(),
            [](const FoundCheckpoint& a, const FoundCheckpoint& b) { return a.step < b.step; });
  return found;
}

void verify_checkpoint(const std::string& path) {
  const nlohmann::json manifest = read_manifest(path);
  std::vector<const char*> names{kModel, kOptimizer, kState};
  for (const char* name : {kAverage, kBest}) {
    if (is_listed(manifest, name)) names.push_back(name);
  }
  for (const char* name : names) {
    const FileDigest expected = expected_digest(path, manifest, name);
    FileDigest found;
    try {
      found = digest_of(path + '/' + name);
    } catch (const FileError& error) {
      throw DataError(to_text("[", kOperation, "] \"", path, "\": ", error.what()));
    }
    check<DataError>(found.nbytes == expected.nbytes, kOperation, '"', path, "\": ", name, " has ",
                     found.nbytes, " bytes: expected ", expected.nbytes);
    check<DataError>(found.hash == expected.hash, kOperation, '"', path, "\": ", name, " has XXH3 ",
                     to_hex(found.hash), ": expected ", to_hex(expected.hash));
  }
}

CheckpointSearch find_newest_checkpoint(const std::string& folder) {
  CheckpointSearch search;
  std::vector<FoundCheckpoint> found = list_checkpoints(folder);
  for (; !found.empty(); found.pop_back()) {
    try {
      verify_checkpoint(found.back().path);
      search.newest = found.back();
      break;
    } catch (const DataError& error) {
      search.damaged.emplace_back(error.what());
    }
  }
  return search;
}

Checkpoint load_checkpoint(const std::string& path) {
  verify_checkpoint(path);
  Checkpoint checkpoint;
  checkpoint.model = load_safetensors(path + '/' + kModel);
  checkpoint.optimizer = load_safetensors(path + '/' + kOptimizer);
  const nlohmann::json manifest = read_manifest(path);
  if (is_listed(manifest, kAverage)) checkpoint.average = load_safetensors(path + '/' + kAverage);
  if (is_listed(manifest, kBest)) checkpoint.best = path + '/' + kBest;
  checkpoint.state = read_state(path);
  return checkpoint;
}

}  // namespace lockstep::train
