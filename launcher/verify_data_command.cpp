#include "launcher/verify_data_command.h"

#include <iostream>

#include "data/verify.h"
#include "launcher/exit_status.h"
#include "launcher/train_options.h"
#include "runtime/error.h"
#include "train/assembly.h"

namespace lockstep::launcher {
namespace {

/// Whether the split is in order.
bool verify_split(const TrainConfig& config, data::Split split, const VerifyDataOptions& options,
                  const train::Extensions& own) {
  const char* name = split == data::Split::kTrain ? "training" : "evaluation";
  try {
    const auto source = train::make_source(config, split, own);
    const data::Verification found = data::verify(*source, {.threads = options.threads});
    for (const data::Fault& fault : found.faults) {
      std::cout << name << " sample " << fault.sample << ": " << fault.text << '\n';
    }
    const auto listed = static_cast<int64_t>(found.faults.size());
    if (listed < found.faulty) std::cout << "... and " << found.faulty - listed << " more\n";
    std::cout << name << " data of " << source->spec().name << ": " << found.samples << " samples, "
              << found.faulty << " faulty\n";
    return found.faulty == 0;
  } catch (const Error& error) {
    std::cout << name << " data: " << error.what() << '\n';
    return false;
  }
}

}  // namespace

int verify_data_command(const VerifyDataOptions& options, const train::Extensions& own) {
  TrainOptions recipe;
  recipe.recipe = options.recipe;
  recipe.sets = options.sets;
  const TrainConfig config = resolve_config(recipe, find_recipes_folder(), own);
  const bool train_is_good = verify_split(config, data::Split::kTrain, options, own);
  const bool test_is_good = verify_split(config, data::Split::kTest, options, own);
  return train_is_good && test_is_good ? kDone : kDataFault;
}

}  // namespace lockstep::launcher
