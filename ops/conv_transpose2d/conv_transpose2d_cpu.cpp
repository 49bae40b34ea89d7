#include "ops/conv_transpose2d/conv_transpose2d_kernels.h"
#include "ops/cpu/onednn.h"

namespace lockstep::ops {

void add_channel_bias_cpu(const Tensor& y, const Tensor& bias) {
  constexpr const char* kName = "conv_transpose2d";
  thread_local onednn::KernelCache cache;
  onednn::Kernel& kernel = cache.get(kName, {y, bias}, {}, [&] {
    const dnnl::memory::desc layout = onednn::layout_of(y);
    const dnnl::binary::primitive_desc description(
        {dnnl::algorithm::binary_add, layout, onednn::row_major({1, bias.dim(0), 1, 1}), layout},
        onednn::attributes(), onednn::engine());
    return onednn::Kernel(kName, description, {DNNL_ARG_SRC_0, DNNL_ARG_SRC_1, DNNL_ARG_DST});
  });
  kernel.run({{DNNL_ARG_SRC_0, y}, {DNNL_ARG_SRC_1, kernel.input(DNNL_ARG_SRC_1, bias)}, {DNNL_ARG_DST, y}});
}

}  // namespace lockstep::ops
