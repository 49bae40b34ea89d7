#include "train/data_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/small_run.h"

namespace lockstep::train {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class Pets final : public data::DataSource {
 public:
  int64_t size() const override { return 20; }
  const data::SampleSpec& spec() const override { return spec_; }
  void read(const data::SampleRequest& /*request*/) const override {}

 private:
  data::SampleSpec spec_{.name = "pets", .shape = {1, 8, 8}, .classes = 2, .class_names = {"cat", "dog"}};
};

TEST(DataFacts, TellWhatIsUsedOfTheDataAndEveryClass) {
  TrainConfig config = small_run();
  EXPECT_THAT(data_facts(config, Pets(), data::Split::kTest),
              ElementsAre(Pair("evaluation samples", "20"), Pair("evaluation inputs", "u8 [1, 8, 8]"),
                          Pair("evaluation targets", "i64 []"), Pair("evaluation classes", "2"),
                          Pair("evaluation class 0", "cat"), Pair("evaluation class 1", "dog")));
  config.mutable_data()->set_train_limit(7);
  EXPECT_THAT(data_facts(config, Pets(), data::Split::kTrain)[0], Pair("training samples", "7"));
}

}  // namespace
}  // namespace lockstep::train
