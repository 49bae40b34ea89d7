// Token files of llm.c.
#include "data/formats/tokens.h"

#include "tests/fuzz/target.h"

namespace lockstep::fuzz {
namespace {

constexpr size_t kHeaderBytes = 1024;

Bytes token_file(uint32_t magic, uint32_t version, size_t token_bytes, size_t count) {
  Bytes file = little_endian(magic, 4) + little_endian(version, 4) + little_endian(count, 4);
  file.resize(kHeaderBytes, '\0');
  for (size_t i = 0; i < count; ++i) file += little_endian(1000 * i, token_bytes);
  return file;
}

void parse(const Bytes& input) {
  write_scratch("train.bin", input);
  const data::TokensSource source({.directory = scratch_folder(), .sequence_length = 4});
  int64_t tokens[2][4];
  data::SampleRequest request;
  request.input = reinterpret_cast<std::byte*>(tokens[0]);
  request.target = reinterpret_cast<std::byte*>(tokens[1]);
  for (; request.index < std::min<int64_t>(source.size(), 100); ++request.index) source.read(request);
}

std::vector<Bytes> seeds() {
  return {token_file(20240520, 1, 2, 5), token_file(20240520, 1, 2, 50), token_file(20240801, 7, 4, 5),
          token_file(20240801, 7, 4, 100)};
}

/// The header's number of tokens.
Bytes repair(const Bytes& input) {
  if (input.size() < kHeaderBytes) return input;
  const size_t token_bytes = input.starts_with(little_endian(20240520, 4)) ? 2 : 4;
  return Bytes(input).replace(8, 4, little_endian((input.size() - kHeaderBytes) / token_bytes, 4));
}

}  // namespace

const Target kTarget{.parse = parse, .seeds = seeds, .repair = repair};

}  // namespace lockstep::fuzz
