#include "train/prediction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/augment.h"
#include "data/formats/file.h"
#include "data/formats/picture.h"
#include "ops/cast/cast.h"
#include "runtime/autograd.h"
#include "train/assembly.h"
#include "train/model_file.h"
#include "train/precision.h"
#include "train/safetensors.h"

namespace lockstep::train {
namespace {

constexpr size_t kBatch = 32;

/// Fills rows of `inputs` with the pictures that can be read; the others' predictions get their error.
class Pictures {
 public:
  explicit Pictures(const SavedModel& saved)
      : spec_(saved.spec),
        augmenter_(augment_options(saved.config, saved.spec, data::Split::kTest), saved.spec),
        pixels_(static_cast<size_t>(saved.spec.nbytes())) {
    framing_.options.center = saved.spec.framed ? saved.config.data().image().center_crop() : 1;
  }

  void read(const std::string& path, float* row) {
    data::read_file(path, file_);
    data::decode_picture(file_, path, framing_, {spec_.shape[0], spec_.shape[1]}, pixels_.data());
    augmenter_.apply(reinterpret_cast<const std::byte*>(pixels_.data()), 0, 0, row);
  }

 private:
  const data::SampleSpec& spec_;
  data::Augmenter augmenter_;
  data::Framing framing_;
  std::vector<std::byte> file_;
  std::vector<uint8_t> pixels_;
};

std::vector<ClassProbability> most_probable(const float* logits, const data::SampleSpec& spec, int64_t top) {
  std::vector<int64_t> order(static_cast<size_t>(spec.classes));
  std::iota(order.begin(), order.end(), 0);
  const auto count = std::min(top, spec.classes);
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](int64_t a, int64_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  double sum = 0;
  for (int64_t i = 0; i < spec.classes; ++i) sum += std::exp(double{logits[i]} - logits[order[0]]);
  std::vector<ClassProbability> result;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t label = order[static_cast<size_t>(i)];
    const bool named = static_cast<size_t>(label) < spec.class_names.size();
    result.push_back({label, named ? spec.class_names[static_cast<size_t>(label)] : "",
                      std::exp(double{logits[label]} - logits[order[0]]) / sum});
  }
  return result;
}

void predict_batch(const SavedModel& saved, Pictures& pictures, std::span<Prediction> batch, int64_t top) {
  const Shape& shape = saved.spec.shape;
  const Tensor inputs = Tensor::zeros({static_cast<int64_t>(batch.size()), shape[0], shape[1], shape[2]});
  for (size_t i = 0; i < batch.size(); ++i) {
    try {
      pictures.read(batch[i].file, inputs.data<float>() + static_cast<int64_t>(i) * shape.count());
    } catch (const DataError& error) {
      batch[i].error = error.what();
    }
  }
  const Tensor computed = models::forward(*saved.model, inputs, {.compute = compute_type(saved.config)});
  const Tensor logits = plain(ops::cast(computed, DType::kF32)).contiguous();
  const Shape expected{static_cast<int64_t>(batch.size()), saved.spec.classes};
  check<ConfigError>(logits.shape() == expected, "predict", "expected a model that gives ", expected,
                     " for so many pictures, one number for each class; this one gives ", logits.shape());
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!batch[i].error.empty()) continue;
    const float* row = logits.data<float>() + static_cast<int64_t>(i) * saved.spec.classes;
    if (std::all_of(row, row + saved.spec.classes, [](float value) { return std::isfinite(value); })) {
      batch[i].top = most_probable(row, saved.spec, top);
    } else {
      batch[i].error = to_text("[predict] ", batch[i].file, ": the model's outputs are not finite");
    }
  }
}

}  // namespace

data::SampleSpec prediction_spec(const SavedModelOptions& options) {
  const std::string file = saved_weights(options);
  if (SafetensorsFile(file).metadata().contains("input")) return read_model_spec(file);
  return make_source(saved_config(options), data::Split::kTest, options.own)->spec();
}

std::vector<Prediction> predict(const SavedModel& saved, const std::vector<std::string>& files, int64_t top) {
  const data::SampleSpec& spec = saved.spec;
  check<ConfigError>(
      spec.is_image() && spec.shape[1] == spec.shape[2] && (spec.shape[0] == 1 || spec.shape[0] == 3),
      "predict", "expected a model that takes square pictures of 1 or 3 channels; this one takes ",
      spec.shape);
  const NoGrad no_grad;
  std::vector<Prediction> predictions;
  for (const std::string& file : files) predictions.push_back({file, {}, ""});
  Pictures pictures(saved);
  for (size_t begin = 0; begin < files.size(); begin += kBatch) {
    const size_t count = std::min(kBatch, files.size() - begin);
    predict_batch(saved, pictures, std::span(predictions).subspan(begin, count), top);
  }
  return predictions;
}

}  // namespace lockstep::train
