#include "ops/cpu/onednn.h"

#include <omp.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <string>

#include "ops/cast/cast.h"
#include "ops/operands.h"

namespace lockstep::ops::onednn {
namespace {

thread_local uint64_t reorders = 0;

dnnl::stream& stream() {
  thread_local dnnl::stream stream(engine());
  return stream;
}

dnnl::memory::data_type to_dnnl(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return dnnl::memory::data_type::f32;
    case DType::kF16:
      return dnnl::memory::data_type::f16;
    case DType::kBF16:
      return dnnl::memory::data_type::bf16;
    case DType::kI32:
      return dnnl::memory::data_type::s32;
    case DType::kU8:
      return dnnl::memory::data_type::u8;
    case DType::kF64:
    case DType::kI64:
      break;
  }
  throw InvalidArgument(to_text("[onednn] has no element type ", dtype));
}

DType from_dnnl(dnnl::memory::data_type type) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kU8}) {
    if (to_dnnl(dtype) == type) return dtype;
  }
  throw Error(to_text("[onednn] internal error: unexpected data type ", static_cast<int>(type)));
}

dnnl::memory::dims to_dims(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

/// The only place that looks into a descriptor's strides and blocks (which 3.x gives by get_strides() and
/// others).
struct Blocking {
  explicit Blocking(const dnnl::memory::desc& desc) {
    const dnnl_memory_desc_t& data = desc.data;
    if (data.format_kind != dnnl_blocked) return;
    is_blocked = true;
    const auto& format = data.format_desc.blocking;
    dims.assign(data.dims, data.dims + data.ndims);
    padded_dims.assign(data.padded_dims, data.padded_dims + data.ndims);
    strides.assign(format.strides, format.strides + data.ndims);
    blocks.assign(format.inner_blks, format.inner_blks + format.inner_nblks);
    blocked_dims.assign(format.inner_idxs, format.inner_idxs + format.inner_nblks);
  }

  bool is_row_major() const {
    if (!is_blocked || !blocks.empty() || padded_dims != dims) return false;
    int64_t expected = 1;
    for (size_t d = dims.size(); d-- > 0;) {  // the stride of an extent of 1 is never used
      if (dims[d] != 1 && strides[d] != expected) return false;
      expected *= dims[d];
    }
    return true;
  }

  /// See channels_together().
  int64_t channels_together() const {
    if (!is_blocked || dims.size() < 2 || blocks.size() > 1) return 0;
    if (blocks.size() == 1 && blocked_dims[0] != 1) return 0;
    const int64_t width = blocks.empty() ? dims[1] : blocks[0];
    int64_t expected = width;
    for (size_t d = dims.size(); d-- > 2;) {
      if (padded_dims[d] != dims[d] || (dims[d] != 1 && strides[d] != expected)) return 0;
      expected *= dims[d];
    }
    const int64_t groups = (dims[1] + width - 1) / width;
    const bool channels_fit = blocks.empty() ? strides[1] == 1 : groups == 1 || strides[1] == expected;
    const bool images_fit = dims[0] == 1 || strides[0] == expected * groups;
    return channels_fit && images_fit && padded_dims[0] == dims[0] && padded_dims[1] <= groups * width ? width
                                                                                                       : 0;
  }

  /// As oneDNN writes tags: dimensions from the outermost, upper case where blocked, then the blocks:
  /// "aBcd16b".
  std::string name() const {
    if (!is_blocked) return "library";
    std::vector<size_t> order(dims.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return strides[a] > strides[b]; });
    std::string name;
    for (const size_t d : order) {
      const bool blocked =
          std::find(blocked_dims.begin(), blocked_dims.end(), static_cast<int64_t>(d)) != blocked_dims.end();
      name += static_cast<char>((blocked ? 'A' : 'a') + static_cast<char>(d));
    }
    for (size_t i = 0; i < blocks.size(); ++i) {
      name += std::to_string(blocks[i]) + static_cast<char>('a' + static_cast<char>(blocked_dims[i]));
    }
    return name;
  }

  bool is_blocked = false;
  std::vector<int64_t> dims, padded_dims, strides, blocks, blocked_dims;
};

const dnnl::memory::desc& desc_of(const OpaqueLayout& layout) {
  return *static_cast<const dnnl::memory::desc*>(layout.descriptor.get());
}

/// One side of a reorder. A null layout is row-major, with the extents of the other side.
struct Format {
  const OpaqueLayout* layout;
  DType dtype;
  auto operator<=>(const Format&) const = default;

  dnnl::memory::desc desc(const dnnl::memory::dims& dims) const {
    return layout ? desc_of(*layout) : row_major(Shape(std::span(dims.data(), dims.size())), dtype);
  }
};

void reorder(const Format& from, const void* source, const Format& to, void* target) {
  thread_local std::map<std::pair<Format, Format>, Kernel> kernels;
  auto known = kernels.find({from, to});
  if (known == kernels.end()) {
    const auto dims = desc_of(from.layout ? *from.layout : *to.layout).dims();
    const dnnl::reorder::primitive_desc description(engine(), from.desc(dims), engine(), to.desc(dims),
                                                    attributes());
    known = kernels.emplace(std::pair(from, to), Kernel("reorder", description, {DNNL_ARG_FROM, DNNL_ARG_TO}))
                .first;
  }
  ++reorders;
  known->second.run_on_memory({{DNNL_ARG_FROM, const_cast<void*>(source)}, {DNNL_ARG_TO, target}});
}

/// Equal, or channels in one block that holds all of them and channels last: two descriptions of one format.
bool same_format(const dnnl::memory::desc& a, const dnnl::memory::desc& b) {
  if (a == b) return true;
  if (a.dims() != b.dims() || a.data_type() != b.data_type() || a.dims().size() < 2) return false;
  const int64_t channels = a.dims()[1];
  return Blocking(a).channels_together() == channels && Blocking(b).channels_together() == channels;
}

/// The process's one Layout for this format; null if it is row-major.
Layout layout_for(const dnnl::memory::desc& desc) {
  const Blocking blocking(desc);
  if (blocking.is_row_major()) return nullptr;
  static auto& mutex = *new std::mutex;  // never destroyed, like the engine
  static auto& layouts = *new std::vector<Layout>;
  const std::lock_guard lock(mutex);
  for (const Layout& layout : layouts) {
    if (same_format(desc_of(*layout), desc)) return layout;
  }
  auto layout = std::make_shared<OpaqueLayout>();
  layout->name = blocking.name();
  layout->nbytes = desc.get_size();
  layout->descriptor = std::make_shared<const dnnl::memory::desc>(desc);
  layout->unpack = [self = layout.get()](const void* opaque, void* plain) {
    const DType dtype = from_dnnl(desc_of(*self).data_type());
    reorder({self, dtype}, opaque, {nullptr, dtype}, plain);
  };
  layouts.push_back(layout);
  return layout;
}

}  // namespace

const dnnl::engine& engine() {
  // Never destroyed: tensors and primitives that outlive main still refer to it.
  static const auto& engine = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

const dnnl::primitive_attr& attributes() {
  static const auto& attributes = *[] {
    auto* created = new dnnl::primitive_attr;
    created->set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return created;
  }();
  return attributes;
}

dnnl::memory::desc row_major(const Shape& shape, DType dtype) {
  return {to_dims(shape), to_dnnl(dtype), to_dims(row_major_strides(shape))};
}

dnnl::memory::desc any_layout(const Shape& shape, DType dtype) {
  return {to_dims(shape), to_dnnl(dtype), dnnl::memory::format_tag::any};
}

dnnl::memory::desc layout_of(const Tensor& x) {
  return x.layout() ? desc_of(*x.layout()) : row_major(x.shape(), x.dtype());
}

int64_t channels_together(const OpaqueLayout& layout) {
  return Blocking(desc_of(layout)).channels_together();
}

dnnl::memory::desc channels_last(const Shape& shape, DType dtype) {
  return {to_dims(shape), to_dnnl(dtype), dnnl::memory::format_tag::acdb};
}

Tensor to_layout(const Tensor& x, const Layout& layout, DType dtype) {
  if (x.layout() == layout && x.dtype() == dtype) return dense(x);
  if (!x.layout() && !layout) return cast(x.detach(), dtype);
  const Tensor source = dense(x);
  const Tensor target = layout ? Tensor::opaque(x.shape(), dtype, layout) : Tensor::empty(x.shape(), dtype);
  reorder({source.layout().get(), x.dtype()}, source.raw(), {layout.get(), dtype}, target.raw());
  return target;
}

Tensor packed(const Tensor& parameter, const Layout& layout, DType dtype) {
  if (!layout && dtype == parameter.dtype()) return dense(parameter);
  struct Copy {
    std::weak_ptr<Storage> owner;  // the address alone may be another parameter's by now
    uint32_t version = 0;
    Tensor tensor;
  };
  thread_local std::map<std::pair<const void*, Format>, Copy> copies;
  const std::pair key(static_cast<const void*>(parameter.raw()), Format{layout.get(), dtype});
  const auto known = copies.find(key);
  if (known != copies.end() && known->second.version == parameter.version() &&
      known->second.owner.lock() == parameter.storage()) {
    return known->second.tensor;
  }
  if (known == copies.end()) {
    std::erase_if(copies, [](const auto& entry) { return entry.second.owner.expired(); });
  }
  Copy& copy = copies[key];
  copy.tensor = {};  // back to the pool, which hands the same memory out again
  copy = {parameter.storage(), parameter.version(), to_layout(parameter, layout, dtype)};
  return copy.tensor;
}

uint64_t reorder_count() {
  return reorders;
}

Kernel::Kernel(const char* operation, const dnnl::primitive_desc_base& description,
               std::initializer_list<int> arguments)
    : operation_(operation),
      primitive_(description.get()),
      scratchpad_nbytes_(static_cast<int64_t>(description.scratchpad_desc().get_size())) {
  for (const int argument : arguments) {
    const dnnl::memory::desc desc = description.query_md(dnnl::query::exec_arg_md, argument);
    if (desc.get_size() == 0) continue;
    const auto dims = desc.dims();
    slots_.push_back({argument, Shape(std::span(dims.data(), dims.size())), from_dnnl(desc.data_type()),
                      layout_for(desc)});
    memory_.emplace(argument, dnnl::memory(desc, engine(), nullptr));
  }
  if (scratchpad_nbytes_ > 0) {
    memory_.emplace(DNNL_ARG_SCRATCHPAD, dnnl::memory(description.scratchpad_desc(), engine(), nullptr));
  }
}

const Kernel::Slot* Kernel::find(int argument) const {
  const auto found =
      std::find_if(slots_.begin(), slots_.end(), [&](const Slot& slot) { return slot.argument == argument; });
  return found == slots_.end() ? nullptr : &*found;
}

const Kernel::Slot& Kernel::slot(int argument) const {
  const Slot* found = find(argument);
  ensure(found != nullptr, operation_, "the primitive has no argument ", argument);
  return *found;
}

Tensor Kernel::output(int argument) const {
  return find(argument) ? output(argument, slot(argument).shape) : Tensor();
}

Tensor Kernel::output(int argument, const Shape& shape) const {
  const Slot& slot = this->slot(argument);
  return slot.layout ? Tensor::opaque(shape, slot.dtype, slot.layout) : Tensor::empty(shape, slot.dtype);
}

void Kernel::run(std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments) {
    if (!argument.tensor.defined()) continue;
    ensure(argument.tensor.layout() == layout(argument.name), operation_, "argument ", argument.name,
           " of shape ", argument.tensor.shape(), " is not in the primitive's layout");
    set_memory(argument.name, argument.tensor.raw());
  }
  execute();
}

void Kernel::run_on_memory(std::initializer_list<std::pair<int, void*>> arguments) {
  for (const auto& [argument, data] : arguments) {
    if (data != nullptr) set_memory(argument, data);
  }
  execute();
}

void Kernel::execute() {
  Tensor scratchpad;
  if (scratchpad_nbytes_ > 0) {
    scratchpad = Tensor::empty({scratchpad_nbytes_}, DType::kU8);
    set_memory(DNNL_ARG_SCRATCHPAD, scratchpad.raw());
  }
  try {
    primitive_.execute(stream(), memory_);
    stream().wait();
  } catch (const dnnl::error& error) {
    std::vector<Shape> shapes;
    for (const Slot& slot : slots_) shapes.push_back(slot.shape);
    throw_error(operation_, shapes, error);
  }
}

KernelKey::KernelKey(std::initializer_list<Tensor> tensors, std::initializer_list<int64_t> numbers) {
  words_.reserve(8 * tensors.size() + numbers.size() + 1);
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined()) {
      words_.push_back(-1);
      continue;
    }
    words_.push_back(tensor.ndim());
    words_.insert(words_.end(), tensor.shape().begin(), tensor.shape().end());
    words_.push_back(static_cast<int64_t>(tensor.dtype()));
    words_.push_back(static_cast<int64_t>(reinterpret_cast<intptr_t>(tensor.layout().get())));
  }
  words_.insert(words_.end(), numbers);
  words_.push_back(omp_get_max_threads());
}

size_t KernelKey::hash() const {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, a word at a time
  for (const int64_t word : words_) hash = (hash ^ static_cast<uint64_t>(word)) * 0x100000001b3;
  return hash ^ (hash >> 32);
}

std::vector<Shape> shapes_of(std::initializer_list<Tensor> tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& tensor : tensors) {
    if (tensor.defined()) shapes.push_back(tensor.shape());
  }
  return shapes;
}

void throw_error(const char* operation, const std::vector<Shape>& shapes, const dnnl::error& error) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : ", ") + to_text(shape);
  throw Error(to_text("[", operation, "] oneDNN: ", error.what(), " (status ", static_cast<int>(error.status),
                      ") for shapes ", text));
}

}  // namespace lockstep::ops::onednn
