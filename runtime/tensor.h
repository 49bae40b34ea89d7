// A tensor: a cheap value handle on shape, dtype and layout of a view of a Storage. Copying a Tensor copies
// the handle. Handles may be read from several threads; writing to one tensor's memory is the caller's to
// order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/dtype.h"
#include "runtime/shape.h"
#include "runtime/storage.h"

namespace lockstep {

class Node;
class LeafGradient;

/// A library's own memory format (for example oneDNN's blocked layouts). Only the operation that made it
/// knows the inside; everybody else moves the bytes as they are or asks for plain data.
struct OpaqueLayout {
  std::string name;                        ///< for messages and counters, e.g. "aBcd8b"
  size_t nbytes = 0;                       ///< padding included
  std::shared_ptr<const void> descriptor;  ///< the owner's description
  /// Writes the elements in row-major order to `plain`.
  std::function<void(const void* opaque, void* plain)> unpack;
};

class Tensor {
 public:
  Tensor() = default;  ///< undefined: only defined() may be asked

  static Tensor empty(const Shape& shape, DType dtype = DType::kF32, const Device& device = kCpu);
  static Tensor zeros(const Shape& shape, DType dtype = DType::kF32, const Device& device = kCpu);
  static Tensor full(const Shape& shape, double value, DType dtype = DType::kF32,
                     const Device& device = kCpu);
  /// A copy of the values, which must be as many as the shape holds.
  template <class T>
  static Tensor from(const std::vector<T>& values, const Shape& shape);
  static Tensor scalar(float value) { return from<float>({value}, {}); }
  /// A row-major tensor on part of a storage; `offset` in bytes, a multiple of the element size.
  static Tensor on(std::shared_ptr<Storage> storage, size_t offset, const Shape& shape, DType dtype);
  /// A tensor in a library's own layout, uninitialised.
  static Tensor opaque(const Shape& shape, DType dtype, std::shared_ptr<const OpaqueLayout> layout,
                       const Device& device = kCpu);

  bool defined() const { return impl_ != nullptr; }
  const Shape& shape() const;
  const Shape& strides() const;  ///< in elements; meaningless for an opaque layout
  int ndim() const { return shape().ndim(); }
  int64_t dim(int index) const { return shape()[index]; }
  int64_t count() const;
  size_t nbytes() const;  ///< of the elements; for an opaque layout of the whole block
  DType dtype() const;
  const Device& device() const;
  const std::shared_ptr<const OpaqueLayout>& layout() const;  ///< null: plain strided memory
  bool is_contiguous() const;                                 ///< plain, row-major, without gaps
  const std::shared_ptr<Storage>& storage() const;

  /// The first element; T must match dtype, the memory must be plain.
  template <class T>
  T* data() const;
  void* raw() const;    ///< the first byte, whatever dtype and layout
  double item() const;  ///< the only element of a CPU tensor with one element
  template <class T>
  std::vector<T> to_vector() const;  ///< the elements in row-major order; T must match dtype

  // Views: same storage, no copy, no gradient (the differentiable ones are in ops/).
  Tensor view(const Shape& shape) const;  ///< contiguous only; one extent may be -1
  Tensor narrow(int dim, int64_t start, int64_t length) const;
  Tensor permute(const std::vector<int>& order) const;
  Tensor expand(const Shape& shape) const;  ///< broadcast: extents of 1 repeat with stride 0
  Tensor detach() const;                    ///< the same memory outside the graph

  // Copies without gradient.
  Tensor contiguous() const;  ///< this tensor if it is contiguous, else a plain row-major copy
  Tensor clone() const;       ///< always a copy, plain row-major
  Tensor to(const Device& device) const;
  void copy_from(const Tensor& source);  ///< same shape and dtype; bumps the version
  void fill(double value);               ///< bumps the version
  /// this += source, element by element, rounded to the element type; same shape, both f32 or both bf16,
  /// plain contiguous or of one opaque layout.
  void add_in_place(const Tensor& source);

  uint32_t version() const { return storage()->version(); }
  void bump_version() { storage()->bump_version(); }
  bool same_memory(const Tensor& other) const;  ///< same first byte and same extent of the same storage
  /// No other handle on this memory exists, neither a copy of this one nor a view.
  bool is_exclusive() const { return impl_.use_count() == 1 && storage().use_count() == 1; }

  // Autograd.
  bool requires_grad() const;
  void set_requires_grad(bool requires_grad);  ///< leaves only
  bool is_leaf() const { return node() == nullptr; }
  const std::shared_ptr<Node>& node() const;  ///< the operation that made it; null for a leaf
  void set_node(std::shared_ptr<Node> node);
  LeafGradient& leaf_gradient() const;  ///< leaves that require a gradient only
  /// Keeps the leaf's gradient alive beyond the handle, for the graph.
  std::shared_ptr<LeafGradient> shared_leaf_gradient() const;
  Tensor grad() const;  ///< the leaf's gradient; undefined before the first backward

 private:
  struct Impl;
  explicit Tensor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  const Impl& impl() const;
  Impl& impl();
  Tensor strided(const Shape& shape, const Shape& strides, int64_t offset) const;
  std::shared_ptr<Impl> impl_;
};

}  // namespace lockstep
