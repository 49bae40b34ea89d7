#include "models/cnn.h"

#include "models/layers.h"
#include "runtime/error.h"

namespace lockstep::models {
namespace {

/// Convolution that keeps the image size, normalisation if wanted (its shift makes a bias pointless), ReLU,
/// and halving by max pooling.
void add_stage(Sequential& model, int number, int64_t in, int64_t out, bool batch_norm) {
  model.add<Conv2d>(to_text("conv", number), in, out, 3, ops::Conv2dOptions{.padding = 1}, !batch_norm);
  if (batch_norm) {
    model.add<BatchNorm2d>(to_text("bn", number), out, BatchNorm2d::Options{.fuse_relu = true});
  } else {
    model.add<Relu>(to_text("relu", number));
  }
  model.add<MaxPool2d>(to_text("pool", number), ops::Pool2dOptions{.kernel = 2});
}

}  // namespace

std::unique_ptr<Module> make_cnn(const ModelOptions& options) {
  check_unread("cnn", options, {"hidden", "dropout"});
  const std::vector<int64_t> hidden =
      options.hidden.empty() ? std::vector<int64_t>{32, 64, 128} : options.hidden;
  check<ConfigError>(hidden.size() == 3, "cnn", "hidden: expected three sizes (conv1, conv2, fc1), got ",
                     hidden.size());
  const int64_t height = options.input[1] / 4;
  const int64_t width = options.input[2] / 4;
  check<ConfigError>(height > 0 && width > 0, "cnn", "input: expected images of at least 4 x 4, got ",
                     options.input);

  const double dropout = options.dropout.value_or(0);
  auto model = std::make_unique<Sequential>();
  add_stage(*model, 1, options.input[0], hidden[0], options.batch_norm);
  add_stage(*model, 2, hidden[0], hidden[1], options.batch_norm);
  if (dropout > 0) model->add<Dropout>("dropout1", dropout);
  model->add<Flatten>("flatten");
  model->add<Linear>("fc1", hidden[1] * height * width, hidden[2]);
  model->add<Relu>("relu3");
  if (dropout > 0) model->add<Dropout>("dropout2", dropout);
  model->add<Linear>("fc2", hidden[2], options.classes);
  return model;
}

}  // namespace lockstep::models
