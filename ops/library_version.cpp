#include "ops/library_version.h"

#include <dnnl.hpp>

#include "runtime/error.h"

namespace lockstep::ops {
namespace {

const char* name_of(dnnl::cpu_isa isa) {
  switch (isa) {
    case dnnl::cpu_isa::sse41:
      return "sse41";
    case dnnl::cpu_isa::avx:
      return "avx";
    case dnnl::cpu_isa::avx2:
      return "avx2";
    case dnnl::cpu_isa::avx2_vnni:
      return "avx2_vnni";
    case dnnl::cpu_isa::avx512_core:
      return "avx512_core";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "avx512_core_vnni";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "avx512_core_bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "avx512_core_amx";
    default:
      return "other";
  }
}

}  // namespace

std::string library_version() {
  const dnnl::version_t* version = dnnl::version();
  return to_text("oneDNN ", version->major, '.', version->minor, '.', version->patch, " (", instruction_set(),
                 ')');
}

std::string instruction_set() {
  return name_of(dnnl::get_effective_cpu_isa());
}

}  // namespace lockstep::ops
