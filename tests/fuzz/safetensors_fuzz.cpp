// Weights in safetensors files.
#include "train/safetensors.h"

#include "tests/fuzz/safetensors_header.h"
#include "tests/fuzz/target.h"

namespace lockstep::fuzz {
namespace {

void parse(const Bytes& input) {
  train::load_safetensors(write_scratch("a.safetensors", input));
}

std::vector<Bytes> seeds() {
  return {
      safetensors_file("{}", ""),
      safetensors_file(R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", Bytes(24, '\1')),
      safetensors_file(
          R"({"__metadata__":{"format":"pt"},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}  )", "x"),
      safetensors_file(R"({"e":{"dtype":"F64","shape":[0,5],"data_offsets":[8,8]},)"
                       R"("i":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
                       R"("h":{"dtype":"BF16","shape":[2,1,1],"data_offsets":[8,12]},)"
                       R"("g":{"dtype":"F16","shape":[1,1,1,1],"data_offsets":[12,14]},)"
                       R"("j":{"dtype":"I32","shape":[1,1],"data_offsets":[14,18]}})",
                       Bytes(18, '\2')),
  };
}

}  // namespace

const Target kTarget{
    .parse = parse,
    .seeds = seeds,
    .repair = with_header_length,
    .words = {R"("b":{"dtype":"F32","shape":[],"data_offsets":[0,0]},)", R"("dtype":)", R"("shape":)",
              R"("data_offsets":)", R"("__metadata__":{},)", "[0,0]", "null", "[", "]", "{", "}", "\"", ",",
              ":", "\\u0000", "\\ud800", "\xff", "9223372036854775807"}};

}  // namespace lockstep::fuzz
