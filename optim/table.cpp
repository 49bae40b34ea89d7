#include "optim/table.h"

#include "optim/sgd.h"
#include "runtime/error.h"

namespace lockstep::optim {
namespace {

using OptimizerMaker = std::unique_ptr<Optimizer> (*)(std::vector<OptimizedParameter>,
                                                      const OptimizerOptions&);

template <class T>
std::unique_ptr<Optimizer> make(std::vector<OptimizedParameter> parameters, const OptimizerOptions& options) {
  return std::make_unique<T>(std::move(parameters), options);
}

struct OptimizerRow {
  const char* name;
  OptimizerMaker make;
};

constexpr OptimizerRow kOptimizers[] = {
    {"sgd", make<Sgd>},
};

struct ScheduleRow {
  const char* name;
  ScheduleShape shape;
};

constexpr ScheduleRow kSchedules[] = {
    {"constant", constant},
    {"multi_step", multi_step},
    {"polynomial", polynomial},
    {"cosine", cosine},
};

template <class Row, size_t kRows>
std::vector<std::string> names_of(const Row (&rows)[kRows]) {
  std::vector<std::string> names;
  for (const Row& row : rows) names.emplace_back(row.name);
  return names;
}

template <class Row, size_t kRows>
const Row& find(const char* kind, const Row (&rows)[kRows], const std::string& name) {
  std::string known;
  for (const Row& row : rows) {
    if (name == row.name) return row;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw ConfigError(to_text("[", kind, "] unknown name \"", name, "\"; known: ", known));
}

}  // namespace

std::vector<std::string> optimizer_names() {
  return names_of(kOptimizers);
}

std::unique_ptr<Optimizer> make_optimizer(const std::string& name, const OptimizerOptions& options,
                                          std::vector<OptimizedParameter> parameters) {
  return find("optimizer", kOptimizers, name).make(std::move(parameters), options);
}

std::vector<std::string> schedule_names() {
  return names_of(kSchedules);
}

LrSchedule make_schedule(const std::string& name, const ScheduleOptions& options) {
  return {find("schedule", kSchedules, name).shape, options};
}

}  // namespace lockstep::optim
