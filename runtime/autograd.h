// Define-by-run automatic differentiation. Operations record a Node per result; backward() walks the nodes
// from the newest to the oldest, iteratively. One graph belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/profile.h"
#include "runtime/tensor.h"

namespace lockstep {

class BackwardContext;
/// Reads context.grad(), gives context.add(i, gradient of input i) for every input that context.needs(i).
using BackwardFunction = std::function<void(BackwardContext&)>;

/// Where a leaf's gradient goes. The first contribution since clear() is written, later ones are added.
class LeafGradient {
 public:
  /// Gradients go to this plain f32 view of the leaf's shape from now on (a part of a bucket, say); its
  /// content counts as not yet written.
  void bind(Tensor view);
  const Tensor& view() const { return view_; }
  bool written() const { return written_; }
  void clear() { written_ = false; }
  /// Called by backward() when this leaf got its last contribution of that backward.
  void on_ready(std::function<void()> callback) { on_ready_ = std::move(callback); }

  void add(const Tensor& gradient, const Shape& shape);
  /// A contribution that is added to view(), which is zeroed before if it is the first.
  void accumulate(const std::function<void(const Tensor& view)>& add_to);
  void mark_ready() const;

 private:
  Tensor view_;
  bool written_ = false;
  std::function<void()> on_ready_;
};

/// An input of a recorded operation: an earlier node, a leaf, or neither when it needs no gradient.
struct Edge {
  std::shared_ptr<Node> node;
  std::shared_ptr<LeafGradient> leaf;
  Shape shape;
  DType dtype = DType::kF32;
  bool needed() const { return node || leaf; }
};

class Node {
 public:
  Node(const char* operation, const std::vector<Tensor>& inputs, BackwardFunction backward);
  ~Node();  // iterative: a chain of any length is freed without recursion
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const char* operation() const { return operation_; }
  uint64_t sequence() const { return sequence_; }
  const std::vector<Edge>& inputs() const { return inputs_; }

 private:
  friend class BackwardPass;
  const char* operation_;
  std::unique_ptr<profile::Origin> origin_;  // null unless somebody profiled the operation
  uint64_t sequence_;                        // grows with creation; backward runs the newest first
  std::vector<Edge> inputs_;
  BackwardFunction backward_;  // released as soon as it has run, with the tensors that it saved
};

/// What a backward function sees.
class BackwardContext {
 public:
  BackwardContext(const Node& node, Tensor grad)
      : node_(node), grad_(std::move(grad)), device_(grad_.device()), results_(node.inputs().size()) {}
  const Tensor& grad() const { return grad_; }  ///< of the operation's result
  /// The same, handed over: where it is_exclusive(), the gradient of an input may be written over it, which
  /// saves memory and the reading of what is overwritten.
  Tensor take_grad() { return std::move(grad_); }
  bool needs(int input) const;
  /// Plain contiguous memory of the input's shape and element type to write its gradient to, all of it,
  /// before add(input, it) and no other add(). It is the leaf's own view when this is the leaf's first
  /// contribution, which saves a copy.
  Tensor destination(int input) const;
  const Shape& shape(int input) const;
  DType dtype(int input) const;  ///< of the input, and so of its gradient
  void add(int input, Tensor gradient);
  /// Instead of add(), for a gradient of which most elements are zero: `add_to(sum)` adds it to plain
  /// contiguous f32 memory of the input's shape that holds zeros, or, where it is a leaf's own view, the
  /// earlier contributions. Elements that get nothing are not touched.
  void accumulate(int input, const std::function<void(const Tensor& sum)>& add_to);

 private:
  friend class BackwardPass;
  bool has_own_view(int input) const;
  const Node& node_;
  Tensor grad_;
  Device device_;
  std::vector<Tensor> results_;
};

/// A tensor kept for backward. It shares memory, not graph, so a result may be saved by its own operation.
class SavedTensor {
 public:
  SavedTensor(const Tensor& tensor, const char* operation);
  /// Throws InvalidArgument naming the operation when the memory was changed in place since.
  const Tensor& get() const;

 private:
  Tensor tensor_;
  uint32_t version_;
  const char* operation_;
};

/// True when an operation on these inputs has to be recorded.
bool needs_gradient(const std::vector<Tensor>& inputs);

/// Makes `result` the outcome of a differentiable operation and returns it; outside the graph (NoGrad, or no
/// input needs a gradient) returns it as it is. `operation` must be a literal.
Tensor record(const char* operation, Tensor result, const std::vector<Tensor>& inputs,
              BackwardFunction backward);

/// No operation of this thread is recorded while it lives.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool previous_;
};

struct BackwardOptions {
  /// Gradient of the root, of its shape and element type; undefined: 1, for a root with one element.
  Tensor seed;
  /// Runs after every node; communication makes progress here. Must return soon.
  std::function<void()> between_nodes;
};

/// Adds d root / d leaf to every leaf that requires a gradient, and frees the graph as it goes: a second
/// backward through the same nodes throws InvalidArgument. The order of additions depends on the program
/// alone.
void backward(const Tensor& root, const BackwardOptions& options = {});

/// `tensor` in plain row-major memory, whatever its layout; differentiable.
Tensor plain(const Tensor& tensor);

}  // namespace lockstep
