#include "ops/bf16_support.h"

#include <dnnl.hpp>

#include <fstream>

#include "ops/library_version.h"
#include "runtime/error.h"

namespace lockstep::ops {
namespace {

/// The instruction sets of the library are bit masks: a better one has all bits of those that it includes.
bool includes(dnnl::cpu_isa whole, dnnl::cpu_isa part) {
  const auto bits = static_cast<unsigned>(part);
  return (static_cast<unsigned>(whole) & bits) == bits;
}

std::string vendor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("vendor_id")) return line.substr(line.find(": ") + 2);
  }
  return "unknown";
}

}  // namespace

Bf16Features bf16_features() {
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  const std::string maker = vendor();
  return {.avx512 = includes(isa, dnnl::cpu_isa::avx512_core),
          .avx512_bf16 = includes(isa, dnnl::cpu_isa::avx512_core_bf16),
          .amx_bf16 = includes(isa, dnnl::cpu_isa::avx512_core_amx),
          .amd = maker == "AuthenticAMD",
          .processor = to_text(maker, " with ", instruction_set())};
}

bool has_bf16_kernels(const Bf16Features& features) {
  return features.avx512;
}

// A dot product of AVX512_BF16 does two multiplications and additions a lane where an f32 FMA does one. AMD's
// processors, from Zen 4 on, start as many of them a cycle as FMAs: oneDNN's 3x3 convolutions and products
// run at 2.1 times the f32 rate. Intel's start half as many or fewer (Cooper Lake, and everything later by
// its vector units), so that with the conversions around them bf16 is slower than f32 there; its fast bf16 is
// AMX.
std::string bf16_obstacle(const Bf16Features& features) {
  if (features.amx_bf16 || (features.avx512_bf16 && features.amd)) return "";
  return to_text(
      "BF16 needs AMX, or AVX512_BF16 of an AMD processor, to be faster than FP32; this processor (",
      features.processor, ") has neither");
}

}  // namespace lockstep::ops
