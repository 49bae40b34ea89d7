// What operations ask of their operands before they compute.
#pragma once

#include <cstdint>

#include "runtime/tensor.h"

namespace lockstep::ops {

/// Throws InvalidArgument naming operation, element type and shape unless `x` is a defined f32 tensor.
void check_f32(const char* operation, const Tensor& x);

/// The same for an activation, which may also be bf16 where the operation's row in precision.h takes that, on
/// the CPU.
void check_float(const char* operation, const Tensor& x);

/// An activation of an operation that computes in f32 alone (Bf16Rule::kCastUp): checked, and cast where it
/// is bf16, differentiably.
Tensor in_f32(const char* operation, const Tensor& x);

/// For operations without a CUDA kernel: throws DeviceError naming the operation unless `x` is on the CPU.
void check_cpu(const char* operation, const Tensor& x);

/// What a classifier's result is compared with: logits [n, classes > 0] f32 or bf16 and targets [n] i64, both
/// on the CPU. Throws InvalidArgument naming both shapes.
void check_logits_and_targets(const char* operation, const Tensor& logits, const Tensor& targets);

/// How many of the targets [n] (i64, plain contiguous) are not `ignore_index`. Throws InvalidArgument naming
/// row and value of one of these outside [0, classes).
int64_t count_valid_targets(const char* operation, const Tensor& targets, int64_t classes,
                            int64_t ignore_index);

/// Indices (i64, on the CPU) in plain contiguous memory. Throws InvalidArgument naming position, value and
/// range of one outside [0, extent).
Tensor check_indices(const char* operation, const Tensor& index, int64_t extent);

/// `dim` counted from the front; from the end when negative. Throws InvalidArgument naming both when `shape`
/// has no such dimension.
int check_dim(const char* operation, int dim, const Shape& shape);

/// The product of the extents of dimensions first, .., last - 1.
int64_t count_between(const Shape& shape, int first, int last);

/// True when equal positions in both memory blocks hold equal elements, so that a raw element-wise pass over
/// the blocks is right: both contiguous, or both in one opaque layout; same shape and element type.
bool same_layout(const Tensor& a, const Tensor& b);

/// `x` itself when it is contiguous or opaque, else a contiguous copy (outside the graph): memory without
/// gaps.
Tensor dense(const Tensor& x);

/// `x` in plain contiguous memory (outside the graph).
Tensor plain_contiguous(const Tensor& x);

/// Uninitialised, in the shape, element type, device and opaque layout of `x`.
Tensor empty_like(const Tensor& x);

/// Elements of the whole memory block of a dense tensor; more than count() where an opaque layout pads.
int64_t stored_count(const Tensor& x);

}  // namespace lockstep::ops
