// The lossy codecs: one row each.
#pragma once

#include <span>

#include "comm/codecs/codec.h"

namespace lockstep::comm {

/// All but kNone.
std::span<const CodecRow> codecs();

/// Null for kNone: nothing is rounded, and f32 travel as they are.
const CodecRow* find_codec(Codec codec);

const char* name_of(Codec codec);  ///< "none", "fp16", ...

}  // namespace lockstep::comm
