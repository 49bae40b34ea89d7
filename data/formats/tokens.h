// Texts as token files of llm.c (Karpathy, https://github.com/karpathy/llm.c, dev/data): 256 i32 numbers,
// of which the first are magic number, version and number of tokens, then the tokens. Little-endian.
//   20240520, version 1: u16, of GPT-2's vocabulary      20240801, version 7: u32, of Llama 3's
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/source.h"

namespace lockstep::data {

struct TokensOptions {
  std::string name = "tokens";  ///< of the source, for messages
  /// Training takes the files *train*.bin, evaluation *val*.bin, in byte order of their names.
  std::string directory = {};
  Split split = Split::kTrain;
  int64_t sequence_length = 256;
  int64_t classes = 0;  ///< size of the vocabulary; 0: GPT-2's 50257 or Llama 3's 128256
};

/// Sample i of a file is its tokens [i T, i T + T), and the targets are one further: T is the sequence
/// length. No sample goes from one file into the next; the last tokens of a file, fewer than T + 1, are left
/// out. Tokens are read when they are asked for, each time from a file opened for it: there may be more files
/// than a process may have open.
class TokensSource final : public DataSource {
 public:
  /// Throws DataError naming a file that is not such a file, has another size than its header says, fewer
  /// than T + 1 tokens, or another vocabulary than the first.
  explicit TokensSource(const TokensOptions& options);

  int64_t size() const override { return sample_ends_.back(); }
  const SampleSpec& spec() const override { return spec_; }
  /// Inputs and targets are i64 [T]. Throws DataError naming file and position of a token that is outside the
  /// vocabulary.
  void read(const SampleRequest& request) const override;

 private:
  struct TokenFile {
    std::string path;
    int64_t token_bytes;
    int64_t tokens;
  };
  static TokenFile open_file(const std::string& path);

  SampleSpec spec_;
  std::vector<TokenFile> files_;
  std::vector<int64_t> sample_ends_;  ///< by file: the samples before the next one
};

}  // namespace lockstep::data
