#include "comm/codecs/table.h"

#include "comm/codecs/bf16.h"
#include "comm/codecs/fp16.h"

namespace lockstep::comm {
namespace {

constexpr CodecRow kCodecs[] = {
    {Codec::kFp16, "fp16", fp16::kBlockCount, fp16::kBlockBytes, fp16::encode, fp16::decode, fp16::round},
    {Codec::kBf16, "bf16", bf16::kBlockCount, bf16::kBlockBytes, bf16::encode, bf16::decode, bf16::round},
};

}  // namespace

std::span<const CodecRow> codecs() {
  return kCodecs;
}

const CodecRow* find_codec(Codec codec) {
  for (const CodecRow& row : kCodecs) {
    if (row.codec == codec) return &row;
  }
  return nullptr;
}

const char* name_of(Codec codec) {
  const CodecRow* row = find_codec(codec);
  return row ? row->name : "none";
}

}  // namespace lockstep::comm
