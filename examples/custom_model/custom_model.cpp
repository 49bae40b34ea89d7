// A model of your own, trained by lockstep's trainer: configurations name it "tiny_net". Everything that
// `train` can do, this program can: recipes, --set, --resume, mpirun with any number of ranks, the same bits.
#include <lockstep/launcher/train_program.h>
#include <lockstep/models/layers.h>
#include <lockstep/ops/adaptive_avg_pool2d/adaptive_avg_pool2d.h>
#include <lockstep/ops/reshape/reshape.h>

namespace ls = lockstep;

class TinyNet final : public ls::models::Module {
 public:
  // Registers what the model consists of; the names are those in its weights file.
  explicit TinyNet(const ls::models::ModelOptions& options)
      : conv1_(add_module<ls::models::Conv2d>("conv1", options.input[0], 16, 3, kStride2)),
        bn1_(add_module<ls::models::BatchNorm2d>("bn1", 16, kRelu)),
        conv2_(add_module<ls::models::Conv2d>("conv2", 16, 32, 3, kStride2)),
        bn2_(add_module<ls::models::BatchNorm2d>("bn2", 32, kRelu)),
        fc_(add_module<ls::models::Linear>("fc", 32, options.classes)) {}

  // [n, channels, height, width] -> [n, classes]
  ls::Tensor forward(const ls::Tensor& images, const ls::models::ForwardContext& context) override {
    ls::Tensor x = bn1_.forward(conv1_.forward(images, context), context);
    x = bn2_.forward(conv2_.forward(x, context), context);
    return fc_.forward(ls::ops::flatten(ls::ops::adaptive_avg_pool2d(x)), context);
  }

 private:
  static constexpr ls::ops::Conv2dOptions kStride2{.stride = 2, .padding = 1};
  static constexpr ls::models::BatchNorm2d::Options kRelu{.fuse_relu = true};
  ls::models::Conv2d& conv1_;
  ls::models::BatchNorm2d& bn1_;
  ls::models::Conv2d& conv2_;
  ls::models::BatchNorm2d& bn2_;
  ls::models::Linear& fc_;
};

std::unique_ptr<ls::models::Module> make_tiny_net(const ls::models::ModelOptions& options) {
  return std::make_unique<TinyNet>(options);
}

int main(int argc, char** argv) {
  ls::train::Extensions own;
  own.models.push_back({"tiny_net", make_tiny_net});
  return ls::launcher::run_train(argc, argv, own);
}
