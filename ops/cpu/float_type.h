// Loops over f32 or bf16: elements are widened to f32 where they are read, static_cast<float>(x), and rounded
// to nearest even where they are written, static_cast<T>(y). For f32 both are nothing. Only *_cpu.cpp files
// and what they include include this header.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/dtype.h"
#include "runtime/error.h"

namespace lockstep::ops::cpu {

/// Calls run(T{}) with the C++ type of `dtype`.
template <class Run>
void visit_float(const char* operation, DType dtype, const Run& run) {
  ensure(dtype == DType::kF32 || dtype == DType::kBF16, operation, "no loop over ", dtype);
  if (dtype == DType::kF32) {
    run(float{});
  } else {
    run(BFloat16{});
  }
}

/// Rows of T for loops over f32 that go over a row more than once: they lie in a buffer meanwhile. Of f32 it
/// is the row itself.
template <class T>
class FloatRow {
 public:
  explicit FloatRow(int64_t width) : buffer_(static_cast<size_t>(width)) {}
  const float* read(const T* row) {
    for (size_t i = 0; i < buffer_.size(); ++i) buffer_[i] = static_cast<float>(row[i]);
    return buffer_.data();
  }
  /// Calls fill(memory of a row), and rounds what it wrote to `row`.
  template <class Fill>
  void write(T* row, const Fill& fill) {
    fill(buffer_.data());
    for (size_t i = 0; i < buffer_.size(); ++i) row[i] = static_cast<T>(buffer_[i]);
  }

 private:
  std::vector<float> buffer_;
};

template <>
class FloatRow<float> {
 public:
  explicit FloatRow(int64_t /*width*/) {}
  const float* read(const float* row) { return row; }
  template <class Fill>
  void write(float* row, const Fill& fill) {
    fill(row);
  }
};

}  // namespace lockstep::ops::cpu
