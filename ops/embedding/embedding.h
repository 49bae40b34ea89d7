// Rows of a table by their index: the first layer of language models.
#pragma once

#include "runtime/tensor.h"

namespace lockstep::ops {

/// table [v, c] f32, indices i64 of any shape [..]; returns rows table[index], [.., c], plain, as `dtype`,
/// f32 or bf16. A table row's gradient is the sum over the positions that took it, added in row-major order
/// of the positions whatever the threads; rows that nothing took have zeros. Throws InvalidArgument naming
/// position, index and range for an index outside [0, v), and naming the shape when the table is not a
/// matrix.
Tensor embedding(const Tensor& table, const Tensor& indices, DType dtype = DType::kF32);

}  // namespace lockstep::ops
