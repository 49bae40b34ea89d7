// Flat memory of parameters and gradients, laid out by the bucket plan. Parameters and gradients are views of
// it from birth, so nothing is copied into or out of a bucket, and the optimizer passes over consecutive
// memory.
#pragma once

#include <span>
#include <vector>

#include "comm/codecs/codec.h"
#include "comm/communicator.h"
#include "parallel/bucket_plan.h"
#include "parallel/slot_schedule.h"
#include "runtime/parameter.h"
#include "runtime/tensor.h"

namespace lockstep::parallel {

class GradientMemory {
 public:
  /// Moves the parameters' values into flat memory: each `value` becomes a view of it, with the same content.
  /// Buffers of gradients are the communicator's memory. Parameters and communicator must outlive this
  /// object.
  GradientMemory(std::vector<Parameter*> parameters, const BucketPlan& plan,
                 comm::Communicator& communicator);

  /// Binds every parameter's gradient to a buffer, made on first use; nothing counts as written there.
  void bind(int buffer);
  /// Parameters of the range that got no gradient since bind() contribute the neutral -0.0.
  void complete(const Bucket& range, int buffer);
  /// step.target <- addends[n-1] + (... + (addends[0] + step.buffer)) over the range, in one pass. With a
  /// codec, step.buffer is rounded before, in place, and so is every sum; blocks are counted from the range's
  /// start.
  void add(const SlotStep& step, const Bucket& range, comm::Codec codec = comm::Codec::kNone);
  void fill_neutral(int buffer, const Bucket& range);

  float* data(int buffer, const Bucket& range);  ///< first element of the range
  Tensor gradient(size_t parameter);             ///< view of the parameter's place in the bucket
  const Tensor& values() const { return values_; }
  size_t buffers() const { return buffers_.size(); }

 private:
  struct Buffer {
    Tensor memory;
    std::vector<Tensor> views;  // one per parameter
  };
  Buffer& buffer(int number);

  std::vector<Parameter*> parameters_;
  const BucketPlan& plan_;
  comm::Communicator& communicator_;
  Tensor values_;
  std::vector<Buffer> buffers_;
};

}  // namespace lockstep::parallel
