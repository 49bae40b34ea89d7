// Prints, for the convolutions of the models, how fast each form of each pass is.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/convolution/passes.h"

namespace lockstep::benchmarks {
namespace {

struct Options {
  std::string models = "resnet50,resnet18,resnet20,cnn";
  std::vector<std::string> passes;
  bool bf16 = false;
  double seconds = 0.1;

  dnnl::memory::data_type type() const {
    return bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
  }
};

const std::map<std::string, std::vector<Problem>>& problems() {
  static const std::map<std::string, std::vector<Problem>> problems{
      {"resnet18",
       {{32, 3, 64, 224, 7, 2},
        {32, 64, 64, 56, 3, 1},
        {32, 64, 128, 56, 3, 2},
        {32, 64, 128, 56, 1, 2},
        {32, 128, 128, 28, 3, 1},
        {32, 128, 256, 28, 3, 2},
        {32, 256, 256, 14, 3, 1},
        {32, 256, 512, 14, 3, 2},
        {32, 512, 512, 7, 3, 1}}},
      {"resnet50",
       {{16, 64, 64, 56, 1, 1},
        {16, 64, 256, 56, 1, 1},
        {16, 256, 64, 56, 1, 1},
        {16, 256, 128, 56, 1, 1},
        {16, 128, 128, 56, 3, 2},
        {16, 128, 512, 28, 1, 1},
        {16, 512, 128, 28, 1, 1},
        {16, 256, 512, 56, 1, 2},
        {16, 512, 256, 28, 1, 1},
        {16, 256, 256, 28, 3, 2},
        {16, 256, 1024, 14, 1, 1},
        {16, 1024, 256, 14, 1, 1},
        {16, 512, 1024, 28, 1, 2},
        {16, 1024, 512, 14, 1, 1},
        {16, 512, 512, 14, 3, 2},
        {16, 512, 2048, 7, 1, 1},
        {16, 2048, 512, 7, 1, 1}}},
      {"resnet20",
       {{128, 3, 16, 32, 3, 1},
        {128, 16, 16, 32, 3, 1},
        {128, 16, 32, 32, 3, 2},
        {128, 32, 32, 16, 3, 1},
        {128, 32, 64, 16, 3, 2},
        {128, 64, 64, 8, 3, 1}}},
      {"cnn", {{64, 1, 32, 28, 3, 1}, {64, 32, 64, 14, 3, 1}}}};
  return problems;
}

void print_form(const Problem& problem, Pass pass, Form form, const Options& options) {
  const auto timing = time_pass(problem, pass, form, options.type(), options.seconds);
  if (!timing) {
    std::printf("  %8s %-32s", "-", "");
    return;
  }
  std::printf("  %8.1f %-32s", problem.operations() / timing->seconds * 1e-9, timing->implementation.c_str());
}

void print_problem(const Problem& p, const Options& options) {
  static const char* const kPasses[] = {"forward", "backward data", "backward weights"};
  for (const Pass pass : {Pass::kForward, Pass::kBackwardData, Pass::kBackwardWeights}) {
    std::printf("%4ld %4ld->%-4ld %3ld^2 %ldx%ld/%ld %-17s", p.batch, p.in, p.out, p.image, p.kernel,
                p.kernel, p.stride, kPasses[static_cast<int>(pass)]);
    for (const Form form : {Form::kDirect, Form::kDirectChannelsLast, Form::kWinograd, Form::kMatmul}) {
      print_form(p, pass, form, options);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

/// "16,64,64,56,3,1,forward,direct": batch, channels in and out, image, kernel, stride, pass, form.
void time_one(const std::string& text, const Options& options) {
  static const std::map<std::string, Pass> passes{{"forward_training", Pass::kForward},
                                                  {"backward_data", Pass::kBackwardData},
                                                  {"backward_weights", Pass::kBackwardWeights}};
  static const std::map<std::string, Form> forms{{"direct", Form::kDirect}, {"winograd", Form::kWinograd}};
  const std::vector<std::string> words = CLI::detail::split(text, ',');
  if (words.size() != 8) throw CLI::ValidationError("--pass", "expected eight fields, got " + text);
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < 6; ++i) numbers.push_back(std::stoll(words[i]));
  const Problem problem{numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
  const auto timing =
      time_pass(problem, passes.at(words[6]), forms.at(words[7]), options.type(), options.seconds);
  std::printf("%s %.9f\n", text.c_str(), timing ? timing->seconds : 0.0);
  std::fflush(stdout);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  using namespace lockstep::benchmarks;
  Options options;
  CLI::App app("GFLOP/s of the convolutions of the models, for every form of every pass");
  app.add_option("--models", options.models, "which, separated by commas")->capture_default_str();
  app.add_option(
      "--pass", options.passes,
      "instead: the median seconds of one pass, as batch,in,out,image,kernel,stride,pass,form with "
      "oneDNN's names of pass and form");
  app.add_flag("--bf16", options.bf16, "bf16 operands instead of f32");
  app.add_option("--seconds", options.seconds, "spent on each form")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  for (const std::string& pass : options.passes) time_one(pass, options);
  if (!options.passes.empty()) return 0;
  for (const std::string& model : CLI::detail::split(options.models, ',')) {
    std::printf("%s: GFLOP/s in the direct form, direct with channels last, Winograd, matmul\n",
                model.c_str());
    for (const Problem& problem : problems().at(model)) print_problem(problem, options);
  }
}
