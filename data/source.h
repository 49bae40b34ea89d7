// Where samples come from: an indexed collection of inputs with targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "data/framing.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/shape.h"

namespace lockstep::data {

enum class Split : uint8_t { kTrain, kTest };

/// A target that takes no part in loss and metrics: a masked token, say.
inline constexpr int64_t kIgnoredTarget = -100;

/// What every sample of a source looks like.
struct SampleSpec {
  std::string name;  ///< of the source, for messages
  /// Of an input: [channels, height, width] makes it an image, which is augmented and normalised; anything
  /// else goes to the model as it is.
  Shape shape;
  DType dtype = DType::kU8;  ///< of an image: u8 (0..255) or f32
  int64_t classes = 0;       ///< targets of i64 are in [0, classes) or kIgnoredTarget
  Shape target_shape = {};   ///< of a target; {}: one number
  DType target_dtype = DType::kI64;
  std::vector<std::string> class_names = {};  ///< by label; empty: they have none
  /// The source cuts its images out of larger ones as Framing says, and scales them.
  bool framed = false;

  bool is_image() const { return shape.ndim() == 3; }
  int64_t nbytes() const { return shape.count() * static_cast<int64_t>(size_of(dtype)); }
  int64_t target_nbytes() const { return target_shape.count() * static_cast<int64_t>(size_of(target_dtype)); }
};

/// Which sample to read, and where to.
struct SampleRequest {
  int64_t index = 0;            ///< in [0, size())
  std::byte* input = nullptr;   ///< spec().nbytes(), row-major
  std::byte* target = nullptr;  ///< spec().target_nbytes(), row-major
  Framing framing = {};         ///< for a source whose spec is framed

  void set_label(int64_t label) const { std::memcpy(target, &label, sizeof label); }
};

/// Throws DataError naming the sample that has been read when a target of it is none that the spec allows.
void check_targets(const SampleSpec& spec, const SampleRequest& request);

/// One sample cannot be had (a damaged picture, say) while the others can. What becomes of it is for the
/// reader to decide; see LoaderOptions::bad_samples.
class BadSample : public DataError {
  using DataError::DataError;
};

/// All functions may be called from several threads at once.
class DataSource {
 public:
  virtual ~DataSource() = default;

  virtual int64_t size() const = 0;  ///< samples, at least 1
  virtual const SampleSpec& spec() const = 0;
  /// Writes a sample. May wait until it has been read. Throws BadSample or DataError naming file and sample
  /// when it cannot be had.
  virtual void read(const SampleRequest& request) const = 0;
};

}  // namespace lockstep::data
