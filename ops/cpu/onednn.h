// oneDNN as the CPU operations use it: engine, memory layouts, cached primitives and counted reorders. Only
// *_cpu.cpp files include this header. Everything here may be called from any thread; primitives belong to
// the thread that made them, so ranks that are threads share nothing but the engine and the table of layouts.
#pragma once

#include <dnnl.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/tensor.h"

namespace lockstep::ops::onednn {

/// A layout of oneDNN; null is plain row-major. Equal formats have one Layout in a process, so pointers
/// compare.
using Layout = std::shared_ptr<const OpaqueLayout>;

const dnnl::engine& engine();
/// For every primitive: its scratchpad comes from lockstep's pool.
const dnnl::primitive_attr& attributes();

dnnl::memory::desc row_major(const Shape& shape, DType dtype = DType::kF32);
/// For the library to choose.
dnnl::memory::desc any_layout(const Shape& shape, DType dtype = DType::kF32);
/// Of images [n, c, h, w]. With as many channels as a block has, that is the blocked layout, too.
dnnl::memory::desc channels_last(const Shape& shape, DType dtype = DType::kF32);
/// `x` as it lies in memory: opaque, or contiguous.
dnnl::memory::desc layout_of(const Tensor& x);

/// How many channels of [n, c, ...] lie side by side in this layout: the size of its blocks, all of them
/// where the channels come last, 0 in a layout of another kind. Without gaps but for a last block that is
/// filled up.
int64_t channels_together(const OpaqueLayout& layout);

/// `x` itself if it lies in this layout and has this element type, else a copy that does; one pass in any
/// case.
Tensor to_layout(const Tensor& x, const Layout& layout, DType dtype);
/// Without a change of type: `layout` is null or one for elements as those of `x`.
inline Tensor to_layout(const Tensor& x, const Layout& layout) {
  return to_layout(x, layout, x.dtype());
}

/// A parameter in this layout and type. The calling thread keeps the copy as long as the parameter's memory
/// lives and makes it anew only when that was changed (Tensor::version()): the micro-batches of a step share
/// it.
Tensor packed(const Tensor& parameter, const Layout& layout, DType dtype);

/// Reorders between layouts that this thread has run, each one pass over a tensor that a better chain of
/// layouts would save.
uint64_t reorder_count();

/// An argument of a primitive, DNNL_ARG_..., and its memory. An undefined tensor is an argument that is left
/// out.
struct Argument {
  int name;
  const Tensor& tensor;
};

/// A primitive that is ready to run.
class Kernel {
 public:
  /// `arguments` are all that it takes; those that the description does not know are left out.
  Kernel(const char* operation, const dnnl::primitive_desc_base& description,
         std::initializer_list<int> arguments);

  /// Where the library wants this argument; input() and packed() bring it there, in the type that it wants.
  const Layout& layout(int argument) const { return slot(argument).layout; }
  Tensor input(int argument, const Tensor& x) const {
    return to_layout(x, layout(argument), slot(argument).dtype);
  }
  Tensor packed(int argument, const Tensor& x) const {
    return onednn::packed(x, layout(argument), slot(argument).dtype);
  }
  /// Uninitialised memory for a result; undefined when the primitive has no such argument. `shape` is the
  /// tensor's where that differs from the library's (weights in groups).
  Tensor output(int argument) const;
  Tensor output(int argument, const Shape& shape) const;

  /// Runs on the calling thread's OpenMP team; every tensor must lie in layout(argument).
  void run(std::initializer_list<Argument> arguments);
  /// The same on bare memory; null is an argument that is left out.
  void run_on_memory(std::initializer_list<std::pair<int, void*>> arguments);

 private:
  struct Slot {
    int argument;
    Shape shape;
    DType dtype;
    Layout layout;
  };
  const Slot* find(int argument) const;
  const Slot& slot(int argument) const;
  void set_memory(int argument, void* data) { memory_.at(argument).set_data_handle(data); }
  void execute();

  const char* operation_;
  dnnl::primitive primitive_;
  std::vector<Slot> slots_;
  std::unordered_map<int, dnnl::memory> memory_;  // handles are set anew by every run
  int64_t scratchpad_nbytes_;
};

/// What a kernel was made for: shapes, element types and layouts of tensors (or none), numbers, and the size
/// of the calling thread's OpenMP team.
class KernelKey {
 public:
  KernelKey(std::initializer_list<Tensor> tensors, std::initializer_list<int64_t> numbers);
  bool operator==(const KernelKey&) const = default;
  size_t hash() const;

 private:
  std::vector<int64_t> words_;
};

/// Throws Error naming the operation, what oneDNN said and the shapes.
[[noreturn]] void throw_error(const char* operation, const std::vector<Shape>& shapes,
                              const dnnl::error& error);
std::vector<Shape> shapes_of(std::initializer_list<Tensor> tensors);  ///< of those that are defined

/// The kernels of one operation; making one takes tens of microseconds, and code generation the first time.
/// To be kept thread_local in the function that uses it.
class KernelCache {
 public:
  /// The kernel for these tensors and numbers; `make` is called to make a Kernel when there is none yet.
  /// Valid until the next call. Throws Error naming operation and shapes when oneDNN refuses.
  template <class Make>
  Kernel& get(const char* operation, std::initializer_list<Tensor> tensors,
              std::initializer_list<int64_t> numbers, Make make) {
    KernelKey key(tensors, numbers);
    if (const auto known = kernels_.find(key); known != kernels_.end()) return known->second;
    if (kernels_.size() >= kCapacity) kernels_.clear();
    try {
      return kernels_.emplace(std::move(key), make()).first->second;
    } catch (const dnnl::error& error) {
      throw_error(operation, shapes_of(tensors), error);
    }
  }

 private:
  static constexpr size_t kCapacity =
      1024;  // of distinct shapes: more than any model has, less than memory minds
  struct Hash {
    size_t operator()(const KernelKey& key) const { return key.hash(); }
  };
  std::unordered_map<KernelKey, Kernel, Hash> kernels_;
};

}  // namespace lockstep::ops::onednn
