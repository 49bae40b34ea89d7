#include "runtime/dtype.h"

namespace lockstep {

size_t size_of(DType dtype) {
  return visit_dtype(dtype, [](auto element) { return sizeof(element); });
}

const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kF16:
      return "f16";
    case DType::kBF16:
      return "bf16";
    case DType::kF64:
      return "f64";
    case DType::kI64:
      return "i64";
    case DType::kI32:
      return "i32";
    case DType::kU8:
      break;
  }
  return "u8";
}

}  // namespace lockstep
