#include "train/data_facts.h"

#include "train/assembly.h"

namespace lockstep::train {

std::vector<parallel::Fact> data_facts(const TrainConfig& config, const data::DataSource& source,
                                       data::Split split) {
  const std::string kind = split == data::Split::kTrain ? "training " : "evaluation ";
  const data::SampleSpec& spec = source.spec();
  std::vector<parallel::Fact> facts{{kind + "samples", std::to_string(sample_count(config, source, split))},
                                    {kind + "inputs", to_text(spec.dtype, ' ', spec.shape)},
                                    {kind + "targets", to_text(spec.target_dtype, ' ', spec.target_shape)},
                                    {kind + "classes", std::to_string(spec.classes)}};
  for (size_t label = 0; label < spec.class_names.size(); ++label) {
    facts.emplace_back(to_text(kind, "class ", label), spec.class_names[label]);
  }
  return facts;
}

}  // namespace lockstep::train
