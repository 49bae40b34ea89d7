#include "optim/table.h"

#include "optim/adamw.h"
#include "optim/lamb.h"
#include "optim/lars.h"
#include "optim/lion.h"
#include "optim/sgd.h"
#include "runtime/named_rows.h"

namespace lockstep::optim {
namespace {

template <class T>
std::unique_ptr<Optimizer> make(std::vector<OptimizedParameter> parameters, const OptimizerOptions& options) {
  return std::make_unique<T>(std::move(parameters), options);
}

constexpr OptimizerRow kOptimizers[] = {
    {"sgd", make<Sgd>},     {"lars", make<Lars>}, {"lamb", make<Lamb>},
    {"adamw", make<AdamW>}, {"lion", make<Lion>},
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

}  // namespace

std::vector<std::string> optimizer_names(const std::vector<OptimizerRow>& own) {
  return names_of(with_own(kOptimizers, own));
}

std::unique_ptr<Optimizer> make_optimizer(const std::string& name, const OptimizerOptions& options,
                                          std::vector<OptimizedParameter> parameters,
                                          const std::vector<OptimizerRow>& own) {
  return find_row("optimizer", with_own(kOptimizers, own), name).make(std::move(parameters), options);
}

std::vector<std::string> schedule_names() {
  return names_of(kSchedules);
}

LrSchedule make_schedule(const std::string& name, const ScheduleOptions& options) {
  return {find_row("schedule", std::vector(std::begin(kSchedules), std::end(kSchedules)), name).shape,
          options};
}

}  // namespace lockstep::optim
