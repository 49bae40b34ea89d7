#include "models/alexnet.h"

#include <utility>

#include "models/layers.h"
#include "runtime/error.h"

namespace lockstep::models {
namespace {

/// Modules with the numbers that they have in PyTorch, where ReLU is always a module.
class Features {
 public:
  Features(int64_t channels, bool batch_norm) : channels_(channels), batch_norm_(batch_norm) {}

  void add_convolution(int64_t out, int64_t kernel, const ops::Conv2dOptions& options) {
    modules_->add<Conv2d>(next_name(), channels_, out, kernel, options, !batch_norm_);
    if (batch_norm_) {
      modules_->add<BatchNorm2d>(next_name(), out, BatchNorm2d::Options{.fuse_relu = true});
      ++number_;
    } else {
      modules_->add<Relu>(next_name());
    }
    channels_ = out;
  }
  void add_pooling() { modules_->add<MaxPool2d>(next_name(), ops::Pool2dOptions{.kernel = 3, .stride = 2}); }
  std::unique_ptr<Sequential> take() { return std::move(modules_); }

 private:
  std::string next_name() { return to_text(number_++); }

  int64_t channels_;
  bool batch_norm_;
  int number_ = 0;
  std::unique_ptr<Sequential> modules_ = std::make_unique<Sequential>();
};

std::unique_ptr<Sequential> make_features(const ModelOptions& options) {
  Features features(options.input[0], options.batch_norm);
  features.add_convolution(64, 11, {.stride = 4, .padding = 2});
  features.add_pooling();
  features.add_convolution(192, 5, {.padding = 2});
  features.add_pooling();
  features.add_convolution(384, 3, {.padding = 1});
  features.add_convolution(256, 3, {.padding = 1});
  features.add_convolution(256, 3, {.padding = 1});
  features.add_pooling();
  return features.take();
}

std::unique_ptr<Sequential> make_classifier(int64_t in, int64_t classes, double dropout) {
  constexpr int64_t kWidth = 4096;
  auto classifier = std::make_unique<Sequential>();
  classifier->add<Dropout>("0", dropout);
  classifier->add<Linear>("1", in, kWidth);
  classifier->add<Relu>("2");
  classifier->add<Dropout>("3", dropout);
  classifier->add<Linear>("4", kWidth, kWidth);
  classifier->add<Relu>("5");
  classifier->add<Linear>("6", kWidth, classes);
  return classifier;
}

}  // namespace

std::unique_ptr<Module> make_alexnet(const ModelOptions& options) {
  constexpr int64_t kSmallest = 63;  // of which one pixel reaches the end of the features
  constexpr ops::ImageSize kPooled{6, 6};
  check_unread("alexnet", options, {"dropout"});
  check<ConfigError>(
      options.input.ndim() == 3 && options.input[1] >= kSmallest && options.input[2] >= kSmallest, "alexnet",
      "input: expected images of at least ", kSmallest, " x ", kSmallest, ", got ", options.input);
  auto model = std::make_unique<Sequential>();
  model->add("features", make_features(options));
  model->add<AdaptiveAvgPool2d>("avgpool", kPooled);
  model->add<Flatten>("flatten");
  model->add("classifier", make_classifier(256 * kPooled.rows * kPooled.columns, options.classes,
                                           options.dropout.value_or(0.5)));
  return model;
}

}  // namespace lockstep::models
