// Prints, for the products of the models' fully connected layers, how fast each form is.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/matmul/products.h"

namespace lockstep::benchmarks {
namespace {

/// One fully connected layer [.., in] -> [.., out].
struct Layer {
  const char* name;
  int64_t rows;  // of a micro-batch
  int64_t in;
  int64_t out;
  bool input_major;  // the weight is [in, out]
};

const std::vector<Layer>& layers() {
  static const std::vector<Layer> layers{
      {"gpt2 c_attn", 512, 768, 2304, true},  {"gpt2 attn.c_proj", 512, 768, 768, true},
      {"gpt2 c_fc", 512, 768, 3072, true},    {"gpt2 mlp.c_proj", 512, 3072, 768, true},
      {"gpt2 head", 512, 768, 50257, false},  {"mlp fc1", 256, 784, 1024, false},
      {"mlp fc2", 256, 1024, 1024, false},    {"mlp fc3", 256, 1024, 10, false},
      {"resnet50 fc", 16, 2048, 1000, false},
  };
  return layers;
}

void print_product(const Layer& layer, const char* pass, const Product& product, double seconds) {
  std::printf("%-17s %-16s %5ld %5ld %5ld %c%c", layer.name, pass, product.m, product.n, product.k,
              product.transpose_a ? 'T' : '-', product.transpose_b ? 'T' : '-');
  for (const Form form :
       {Form::kMatmul, Form::kMatmulPadded, Form::kMatmulPacked, Form::kMatmulPacking, Form::kSgemm}) {
    std::printf(" %8.1f", product.operations() / time_product(product, form, seconds) * 1e-9);
    std::fflush(stdout);
  }
  std::printf("\n");
}

void print_layer(const Layer& layer, double seconds) {
  const auto [name, rows, in, out, input_major] = layer;
  print_product(layer, "forward", {rows, out, in, false, !input_major}, seconds);
  print_product(layer, "backward data", {rows, in, out, false, input_major}, seconds);
  const Product weights =
      input_major ? Product{in, out, rows, true, false} : Product{out, in, rows, true, false};
  print_product(layer, "backward weights", weights, seconds);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  using namespace lockstep::benchmarks;
  std::string only;
  double seconds = 0.2;
  CLI::App app("GFLOP/s of the fully connected layers of the models, for every form of every pass");
  app.add_option("--only", only, "layers whose name contains this");
  app.add_option("--seconds", seconds, "spent on each form")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::printf("%-34s %5s %5s %5s %2s %8s %8s %8s %8s %8s\n", "GFLOP/s", "m", "n", "k", "", "matmul", "padded",
              "packed", "packing", "sgemm");
  for (const Layer& layer : layers()) {
    if (std::string(layer.name).find(only) != std::string::npos) print_layer(layer, seconds);
  }
}
