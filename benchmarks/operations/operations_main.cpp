// Measures every operation and writes the table docs/operations.md. Run from the root of the repository, on a
// quiet machine, after a release build:
//   build/release/bin/operations
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "benchmarks/operations/measure.h"
#include "ops/precision.h"
#include "runtime/cpu_name.h"
#include "runtime/error.h"
#include "runtime/threads.h"

namespace lockstep::benchmarks {
namespace {

struct Options {
  int threads = 1;
  double seconds = 0.3;
  std::string write = "docs/operations.md";
};

std::string header_of(const std::string& folder) {
  return "ops/" + folder + "/" + folder + ".h";
}

/// The first sentence of the comment that the header begins with.
std::string contract_of(const std::string& header) {
  std::ifstream file(header);
  check<Error>(file.good(), "operations", "cannot read ", header, "; run from the root of the repository");
  std::string comment;
  for (std::string line; std::getline(file, line) && line.starts_with("// ");) {
    comment += (comment.empty() ? "" : " ") + line.substr(3);
  }
  const size_t end = comment.find(". ");
  return end == std::string::npos ? comment : comment.substr(0, end + 1);
}

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string time_text(double seconds) {
  if (seconds < 1e-4) return formatted("%.1f µs", seconds * 1e6);
  return formatted(seconds < 1e-2 ? "%.2f ms" : "%.1f ms", seconds * 1e3);
}

std::string rate_text(const test::OpRow& row, const Measurement& measured) {
  if (measured.is_view) return "a view";
  if (row.flops > 0) return formatted("%.1f GFLOP/s", row.flops / measured.forward_seconds * 1e-9);
  return formatted("%.1f GB/s", measured.bytes / measured.forward_seconds * 1e-9);
}

std::string line_of(const test::OpFolder& folder, const test::OpRow& row, double seconds) {
  const Measurement measured = measure(row, seconds);
  const std::string header = header_of(folder.name);
  const auto error = [](double value) { return value == 0 ? "0" : formatted("%.1e", value); };
  const bool differentiable = measured.errors.differentiable;
  return to_text(
      "| [", row.name, "](../", header, ") | ", contract_of(header), " | ", measured.element_types, " | ",
      ops::text_of(ops::bf16_rule(row.name.substr(0, row.name.find(' ')))), " | ",
      error(measured.errors.value), " | ", differentiable ? error(measured.errors.gradient) : "no gradient",
      " | ", measured.timed_shapes, " | ", time_text(measured.forward_seconds), ", ",
      rate_text(row, measured), " | ", differentiable ? time_text(measured.backward_seconds) : "", " |\n");
}

std::string introduction(const std::string& command, int threads) {
  return to_text(R"(# Operations

Every operation, what it is, how exact and how fast; the name leads to the header, which is the contract. The
first sentence of that header stands here too. Made by

    )",
                 command, R"(

after a release build, with )",
                 threads, threads == 1 ? " thread" : " threads", " on ", cpu_name(), R"(.

- **types**: element types that the operation takes for all operands alike, found by trying; `any` is f32, f16, bf16,
  f64, i64, i32, u8.
- **bf16**: what it does with bf16 operands; parameters stay f32, see [precision](precision.md).
- **value error**, **gradient error**: the largest |got - expected| / max(1, |expected|) on small contiguous and
  strided operands, compared with a reference in double precision and, for gradients, its central differences,
  which themselves are good to 1e-9 or so.
- **forward**, **backward**: median times on operands of the given shapes, which are plain f32, recording
  included. The rate is the forward's: of its multiplications and additions, or else of the bytes of its
  operands and result, counted once each, even where only some are read, as `nll` does.

| operation | what it is | types | bf16 | value error | gradient error | timed on | forward | backward |
|---|---|---|---|---|---|---|---|---|
)");
}

void run(const Options& options, const std::string& command) {
  configure_compute_threads(options.threads);
  std::string table;
  for (const test::OpFolder& folder : test::op_folders()) {
    for (const test::OpRow& row : folder.rows) {
      table += line_of(folder, row, options.seconds);
      std::cout << row.name << '\n' << std::flush;
    }
  }
  std::ofstream file(options.write);
  file << introduction(command, options.threads) << table;
  check<Error>(file.flush().good(), "operations", "cannot write ", options.write);
}

}  // namespace
}  // namespace lockstep::benchmarks

int main(int argc, char** argv) {
  lockstep::benchmarks::Options options;
  CLI::App app("operations: measures every operation and writes their table");
  app.add_option("--threads", options.threads, "of the compute team")->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "of timing, for each operation")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--write", options.write, "where the table goes");
  CLI11_PARSE(app, argc, argv);
  std::string command = "build/release/bin/operations";
  for (int i = 1; i < argc; ++i) command += std::string(" ") + argv[i];
  try {
    lockstep::benchmarks::run(options, command);
  } catch (const lockstep::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
