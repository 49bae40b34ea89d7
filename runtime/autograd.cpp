#include "runtime/autograd.h"

#include <algorithm>
#include <atomic>
#include <queue>
#include <unordered_map>
#include <utility>

#include "runtime/error.h"

namespace lockstep {
namespace {

thread_local bool recording = true;
std::atomic<uint64_t> next_sequence{1};

bool same_layout(const Tensor& a, const Tensor& b) {
  if (!a.layout() || !b.layout()) return !a.layout() && !b.layout();
  return a.layout()->name == b.layout()->name && a.layout()->nbytes == b.layout()->nbytes;
}

Tensor dense(const Tensor& tensor) {
  return tensor.layout() ? tensor : tensor.contiguous();
}

/// Where a tensor's elements are, without a handle that would keep others from writing over them.
struct Memory {
  const void* first;
  size_t nbytes;
};

/// a += b.
profile::Work work_of_adding(const Tensor& b) {
  return {.operations = 0, .bytes = 3 * static_cast<double>(b.nbytes())};
}

void touch(const Tensor& tensor) {
  profile::touch(tensor.raw(), tensor.nbytes());
}

/// Counts what an operation moves: nothing where its result is a view.
void count_operands(const Tensor& result, const std::vector<Tensor>& inputs) {
  if (!profile::recording()) return;
  for (const Tensor& input : inputs) {
    if (input.defined() && input.storage() == result.storage()) return;
  }
  touch(result);
  for (const Tensor& input : inputs) {
    if (input.defined()) touch(input);
  }
}

/// A gradient on its way to a node. The first contribution is kept as it came. The second is added to it
/// where nobody else holds its memory, else to a copy.
class GradientSum {
 public:
  void add(Tensor gradient) {
    if (!sum_.defined()) {
      sum_ = std::move(gradient);
      return;
    }
    const profile::Span span("sum of gradients", nullptr);
    profile::add_work(work_of_adding(gradient));
    if (!same_layout(sum_, gradient)) {
      gradient = plain(gradient);
      sum_ = plain(sum_);
    }
    if (!sum_.is_exclusive() && gradient.is_exclusive()) std::swap(sum_, gradient);  // a + b = b + a
    if (!sum_.is_exclusive() || !(sum_.layout() || sum_.is_contiguous())) sum_ = copy_of(sum_);
    sum_.add_in_place(dense(gradient));
  }
  Tensor take() { return std::move(sum_); }

 private:
  static Tensor copy_of(const Tensor& tensor) {
    if (!tensor.layout()) return tensor.clone();
    const Tensor copy = Tensor::opaque(tensor.shape(), tensor.dtype(), tensor.layout(), tensor.device());
    copy_device_memory(copy.raw(), copy.device(), tensor.raw(), tensor.device(), tensor.nbytes());
    return copy;
  }

  Tensor sum_;
};

}  // namespace

void LeafGradient::bind(Tensor view) {
  check(view.defined() && view.dtype() == DType::kF32 && view.is_contiguous(), "bind_gradient",
        "expected a contiguous f32 view");
  view_ = std::move(view);
  written_ = false;
}

void LeafGradient::add(const Tensor& gradient, const Shape& shape) {
  check(gradient.shape() == shape, "backward", "a leaf of shape ", shape, " got a gradient of shape ",
        gradient.shape());
  if (!view_.defined()) view_ = Tensor::empty(shape, DType::kF32, gradient.device());
  if (written_) {
    const profile::Span span("sum of gradients", nullptr);
    profile::add_work(work_of_adding(gradient));
    view_.add_in_place(dense(plain(gradient)));
  } else if (!gradient.same_memory(view_)) {
    view_.copy_from(gradient);
  }
  written_ = true;
}

void LeafGradient::accumulate(const std::function<void(const Tensor& view)>& add_to) {
  if (!written_) view_.fill(0);
  written_ = true;
  add_to(view_);
}

void LeafGradient::mark_ready() const {
  if (on_ready_) on_ready_();
}

Node::Node(const char* operation, const std::vector<Tensor>& inputs, BackwardFunction backward)
    : operation_(operation),
      origin_(profile::origin()),
      sequence_(next_sequence.fetch_add(1)),
      backward_(std::move(backward)) {
  inputs_.reserve(inputs.size());
  for (const Tensor& input : inputs) {
    if (!input.defined()) {
      inputs_.push_back({});
    } else {
      inputs_.push_back({input.node(), input.shared_leaf_gradient(), input.shape(), input.dtype()});
    }
  }
}

Node::~Node() {
  std::vector<std::shared_ptr<Node>> orphans;
  const auto collect = [&](Node& node) {
    for (Edge& edge : node.inputs_) {
      if (edge.node && edge.node.use_count() == 1) orphans.push_back(std::move(edge.node));
    }
  };
  collect(*this);
  while (!orphans.empty()) {
    const std::shared_ptr<Node> node = std::move(orphans.back());
    orphans.pop_back();
    node->backward_ = nullptr;
    collect(*node);
  }
}

bool BackwardContext::needs(int input) const {
  return node_.inputs().at(static_cast<size_t>(input)).needed();
}

/// Whether this input is a leaf in whose view its gradient can be computed. A leaf that is several inputs has
/// one view, which their gradients cannot share; a view of another shape is too small or too large to be
/// written to, and LeafGradient::add() says so.
bool BackwardContext::has_own_view(int input) const {
  const std::vector<Edge>& inputs = node_.inputs();
  const Edge& edge = inputs.at(static_cast<size_t>(input));
  const auto same_leaf = [&](const Edge& other) { return other.leaf == edge.leaf; };
  return edge.leaf && edge.leaf->view().defined() && edge.leaf->view().shape() == edge.shape &&
         std::count_if(inputs.begin(), inputs.end(), same_leaf) == 1;
}

Tensor BackwardContext::destination(int input) const {
  const Edge& edge = node_.inputs().at(static_cast<size_t>(input));
  if (has_own_view(input) && !edge.leaf->written()) return edge.leaf->view();
  return Tensor::empty(edge.shape, edge.dtype, device_);
}

const Shape& BackwardContext::shape(int input) const {
  return node_.inputs().at(static_cast<size_t>(input)).shape;
}

DType BackwardContext::dtype(int input) const {
  return node_.inputs().at(static_cast<size_t>(input)).dtype;
}

void BackwardContext::add(int input, Tensor gradient) {
  const auto index = static_cast<size_t>(input);
  const Edge& edge = node_.inputs().at(index);
  ensure(gradient.shape() == edge.shape && gradient.dtype() == edge.dtype, node_.operation(),
         "gradient of input ", input, " is ", gradient.dtype(), ' ', gradient.shape(), ", the input is ",
         edge.dtype, ' ', edge.shape);
  ensure(!results_[index].defined(), node_.operation(), "gradient of input ", input, " was given twice");
  results_[index] = std::move(gradient);
}

void BackwardContext::accumulate(int input, const std::function<void(const Tensor& sum)>& add_to) {
  const Edge& edge = node_.inputs().at(static_cast<size_t>(input));
  if (has_own_view(input)) return edge.leaf->accumulate(add_to);
  const Tensor sum = Tensor::zeros(edge.shape, DType::kF32, device_);
  add_to(sum);
  add(input, sum);
}

SavedTensor::SavedTensor(const Tensor& tensor, const char* operation)
    : tensor_(tensor.detach()), version_(tensor.version()), operation_(operation) {}

const Tensor& SavedTensor::get() const {
  check(tensor_.version() == version_, operation_, "a tensor of shape ", tensor_.shape(),
        " that backward needs was changed in place after the operation used it (version ", version_, ", now ",
        tensor_.version(), "); clone() it before changing it");
  if (profile::recording()) touch(tensor_);
  return tensor_;
}

bool needs_gradient(const std::vector<Tensor>& inputs) {
  if (!recording) return false;
  for (const Tensor& input : inputs) {
    if (input.defined() && input.requires_grad()) return true;
  }
  return false;
}

Tensor record(const char* operation, Tensor result, const std::vector<Tensor>& inputs,
              BackwardFunction backward) {
  count_operands(result, inputs);
  if (needs_gradient(inputs)) result.set_node(std::make_shared<Node>(operation, inputs, std::move(backward)));
  return result;
}

NoGrad::NoGrad() : previous_(std::exchange(recording, false)) {}
NoGrad::~NoGrad() {
  recording = previous_;
}

/// One walk over the graph below a root.
class BackwardPass {
 public:
  void run(const Tensor& root, const Tensor& seed, const std::function<void()>& between_nodes) {
    count_consumers(root.node());
    gradients_[root.node().get()].add(seed);
    enqueue(root.node());
    while (!ready_.empty()) {
      const std::shared_ptr<Node> node = ready_.top();
      ready_.pop();
      process(*node);
      if (between_nodes) between_nodes();
    }
  }

 private:
  struct Older {
    bool operator()(const std::shared_ptr<Node>& a, const std::shared_ptr<Node>& b) const {
      return a->sequence() < b->sequence();
    }
  };

  void count_consumers(const std::shared_ptr<Node>& root) {
    std::vector<Node*> stack{root.get()};
    waiting_[root.get()] = 0;
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      for (const Edge& edge : node->inputs()) {
        if (edge.leaf) ++waiting_leaves_[edge.leaf.get()];
        if (!edge.node) continue;
        const auto [entry, is_new] = waiting_.try_emplace(edge.node.get(), 0);
        ++entry->second;
        if (is_new) stack.push_back(edge.node.get());
      }
    }
  }

  void enqueue(const std::shared_ptr<Node>& node) { ready_.push(node); }

  void process(Node& node) {
    const auto entry = gradients_.find(&node);
    std::vector<Tensor> results(node.inputs().size());
    if (entry != gradients_.end()) {
      check(node.backward_ != nullptr, "backward", "the graph through '", node.operation(),
            "' was used by an earlier backward and freed; run the forward pass again");
      const profile::Span span(node.operation_, node.origin_.get());
      Tensor gradient = entry->second.take();
      const Memory received{gradient.raw(), gradient.nbytes()};
      BackwardContext context(node, std::move(gradient));
      gradients_.erase(entry);
      node.backward_(context);
      if (profile::recording()) count_gradients(node, context, received);
      results = std::move(context.results_);
    }
    node.backward_ = nullptr;
    for (size_t i = 0; i < results.size(); ++i) deliver(node.inputs()[i], std::move(results[i]));
  }

  /// Counts what a gradient takes, beside what it has read of saved tensors: nothing where it only passes on
  /// what it received.
  static void count_gradients(const Node& node, const BackwardContext& context, const Memory& received) {
    profile::Work work;
    for (size_t i = 0; i < context.results_.size(); ++i) {
      const Tensor& result = context.results_[i];
      if (!result.defined()) continue;
      if (node.origin_ && i < node.origin_->gradient_operations.size())
        work.operations += node.origin_->gradient_operations[i];
      if (context.grad_.defined() && result.storage() == context.grad_.storage()) continue;
      work.bytes += static_cast<double>(result.nbytes());
      profile::touch(received.first, received.nbytes);
    }
    profile::add_work(work);
  }

  /// Hands one gradient (undefined: none came) to the node or leaf at the other end of an edge.
  void deliver(const Edge& edge, Tensor gradient) {
    if (edge.leaf) {
      if (gradient.defined()) edge.leaf->add(gradient, edge.shape);
      if (--waiting_leaves_[edge.leaf.get()] == 0) edge.leaf->mark_ready();
    }
    if (edge.node) {
      if (gradient.defined()) gradients_[edge.node.get()].add(std::move(gradient));
      if (--waiting_[edge.node.get()] == 0) enqueue(edge.node);
    }
  }

  std::unordered_map<Node*, int> waiting_;  // consumers whose gradient is still to come
  std::unordered_map<LeafGradient*, int> waiting_leaves_;
  std::unordered_map<Node*, GradientSum> gradients_;
  std::priority_queue<std::shared_ptr<Node>, std::vector<std::shared_ptr<Node>>, Older> ready_;
};

void backward(const Tensor& root, const BackwardOptions& options) {
  check(root.requires_grad(), "backward", "the root of shape ", root.shape(),
        " needs no gradient: no leaf that requires one led to it");
  Tensor seed = options.seed;
  if (!seed.defined()) {
    check(root.count() == 1, "backward", "a root of shape ", root.shape(),
          " needs a seed; only a single element has 1");
    seed = Tensor::full(root.shape(), 1, root.dtype(), root.device());
  }
  check(seed.shape() == root.shape() && seed.dtype() == root.dtype(), "backward", "the seed is ",
        seed.dtype(), ' ', seed.shape(), ", the root ", root.dtype(), ' ', root.shape());
  const NoGrad no_grad;  // backward functions call operations that would record themselves
  if (root.is_leaf()) {
    root.leaf_gradient().add(seed, root.shape());
    root.leaf_gradient().mark_ready();
    return;
  }
  BackwardPass().run(root, seed, options.between_nodes);
}

Tensor plain(const Tensor& tensor) {
  if (!tensor.layout()) return tensor;
  const profile::Span span("plain");
  Tensor result = Tensor::empty(tensor.shape(), tensor.dtype(), tensor.device());
  if (tensor.count() > 0) tensor.layout()->unpack(tensor.raw(), result.raw());
  return record("plain", result, {tensor}, [](BackwardContext& context) { context.add(0, context.grad()); });
}

}  // namespace lockstep
