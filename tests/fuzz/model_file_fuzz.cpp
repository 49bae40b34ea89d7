// What a file of weights says about the model's inputs and outputs.
#include "train/model_file.h"

#include "tests/fuzz/safetensors_header.h"
#include "tests/fuzz/target.h"

namespace lockstep::fuzz {
namespace {

void parse(const Bytes& input) {
  const data::SampleSpec spec = train::read_model_spec(write_scratch("model.safetensors", input));
  spec.nbytes();  // whoever makes an input asks for it
}

std::vector<Bytes> seeds() {
  return {
      safetensors_file(
          R"({"__metadata__":{"classes":"10","format":"pt","input":"1 28 28","input_dtype":"u8"}})", ""),
      safetensors_file(R"({"__metadata__":{"classes":"2","class_names":"cat\ndog\n","format":"pt",)"
                       R"("input":"3 224 224","input_dtype":"f32"},)"
                       R"("w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                       "1234"),
      safetensors_file(
          R"({"__metadata__":{"classes":"50257","format":"pt","input":"256","input_dtype":"i64"}})", ""),
  };
}

}  // namespace

const Target kTarget{.parse = parse,
                     .seeds = seeds,
                     .repair = with_header_length,
                     .words = {" 28", " 4294967296", " 9223372036854775807", " 0", " -1", "\\n", "\\u0000",
                               R"("classes":"3",)", R"("input":"",)", R"("class_names":"a",)", "bf16"}};

}  // namespace lockstep::fuzz
