#include "data/formats/tokens.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>

#include "data/formats/file.h"
#include "runtime/error.h"

namespace lockstep::data {
namespace {

constexpr int64_t kHeaderBytes = 256 * 4;

struct Format {
  int32_t magic;
  int32_t version;
  int64_t token_bytes;
  int64_t vocabulary;
};
constexpr Format kGpt2{20240520, 1, 2, 50257};
constexpr Format kLlama3{20240801, 7, 4, 128256};

std::vector<std::string> find_files(const TokensOptions& options) {
  const std::string part = options.split == Split::kTrain ? "train" : "val";
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(options.directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.ends_with(".bin") && name.find(part) != std::string::npos && !name.starts_with('.'))
      paths.push_back(entry->path());
  }
  check<DataError>(!error, "tokens", options.directory, ": cannot be listed: ", error.message());
  check<DataError>(!paths.empty(), "tokens", "no token files in directory \"", options.directory,
                   "\": looked for *", part, "*.bin");
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Of the file that begins with this header.
const Format& format_of(const std::string& path, int32_t magic, int32_t version) {
  for (const Format* format : {&kGpt2, &kLlama3}) {
    if (magic == format->magic && version == format->version) return *format;
  }
  throw DataError(to_text("[tokens] ", path, ": magic number and version: expected ", kGpt2.magic, " and ",
                          kGpt2.version, " or ", kLlama3.magic, " and ", kLlama3.version, ", got ", magic,
                          " and ", version));
}

template <class Token>
void widen(const std::vector<std::byte>& bytes, int64_t* tokens) {
  for (size_t i = 0; i < bytes.size() / sizeof(Token); ++i) {
    Token token;
    std::memcpy(&token, bytes.data() + i * sizeof token, sizeof token);
    tokens[i] = token;
  }
}

}  // namespace

TokensSource::TokenFile TokensSource::open_file(const std::string& path) {
  const File file(path);
  const int64_t size = file.size();
  check<DataError>(size >= kHeaderBytes, "tokens", path, ": expected a header of ", kHeaderBytes,
                   " bytes, found ", size);
  std::array<int32_t, 3> header{};
  file.read(0, std::as_writable_bytes(std::span(header)));
  const TokenFile opened{path, format_of(path, header[0], header[1]).token_bytes, header[2]};
  const int64_t expected = kHeaderBytes + opened.tokens * opened.token_bytes;
  check<DataError>(opened.tokens >= 0 && size == expected, "tokens", path, ": expected ", expected,
                   " bytes (header: ", opened.tokens, " tokens), found ", size);
  return opened;
}

TokensSource::TokensSource(const TokensOptions& options) {
  const int64_t length = options.sequence_length;
  check(length >= 1, "tokens", "sequence length: expected 1 or more, got ", length);
  int64_t samples = 0;
  for (const std::string& path : find_files(options)) {
    files_.push_back(open_file(path));
    const TokenFile& file = files_.back();
    check<DataError>(file.tokens > length, "tokens", path, ": expected at least ", length + 1,
                     " tokens for one sequence of ", length, ", found ", file.tokens);
    check<DataError>(file.token_bytes == files_.front().token_bytes, "tokens", path, ": has tokens of ",
                     file.token_bytes, " bytes, but ", files_.front().path, " has ",
                     files_.front().token_bytes);
    samples += (file.tokens - 1) / length;
    sample_ends_.push_back(samples);
  }
  const Format& format = files_.front().token_bytes == kGpt2.token_bytes ? kGpt2 : kLlama3;
  spec_ = {.name = options.name,
           .shape = {length},
           .dtype = DType::kI64,
           .classes = options.classes > 0 ? options.classes : format.vocabulary,
           .target_shape = {length}};
}

void TokensSource::read(const SampleRequest& request) const {
  thread_local std::vector<std::byte> bytes;
  thread_local std::vector<int64_t> tokens;
  const int64_t index = request.index;
  check(index >= 0 && index < size(), "tokens", "sample: expected 0 to ", size() - 1, ", got ", index);
  const auto place = std::upper_bound(sample_ends_.begin(), sample_ends_.end(), index);
  const TokenFile& file = files_[static_cast<size_t>(place - sample_ends_.begin())];
  const int64_t earlier = place == sample_ends_.begin() ? 0 : *(place - 1);
  const int64_t length = spec_.shape[0];
  const int64_t first = (index - earlier) * length;
  bytes.resize(static_cast<size_t>((length + 1) * file.token_bytes));
  tokens.resize(static_cast<size_t>(length + 1));
  File(file.path).read(kHeaderBytes + first * file.token_bytes, bytes);
  file.token_bytes == kGpt2.token_bytes ? widen<uint16_t>(bytes, tokens.data())
                                        : widen<uint32_t>(bytes, tokens.data());
  for (int64_t i = 0; i <= length; ++i) {
    const int64_t token = tokens[static_cast<size_t>(i)];
    check<DataError>(token < spec_.classes, "tokens", file.path, ": token ", first + i, ": expected 0 to ",
                     spec_.classes - 1, ", got ", token);
  }
  std::memcpy(request.input, tokens.data(), static_cast<size_t>(spec_.nbytes()));
  std::memcpy(request.target, tokens.data() + 1, static_cast<size_t>(spec_.target_nbytes()));
}

}  // namespace lockstep::data
