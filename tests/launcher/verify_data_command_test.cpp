#include "launcher/verify_data_command.h"

#include <gtest/gtest.h>

#include <fstream>

#include "data/source.h"
#include "tests/launcher/output_of.h"

namespace lockstep::launcher {
namespace {

/// Sample 3 of the training data is damaged.
class OneBad final : public data::DataSource {
 public:
  explicit OneBad(data::Split split) : split_(split) {}
  int64_t size() const override { return 5; }
  const data::SampleSpec& spec() const override { return spec_; }
  void read(const data::SampleRequest& request) const override {
    if (split_ == data::Split::kTrain && request.index == 3)
      throw data::BadSample("[one_bad] a.jpg: damaged");
    *request.input = std::byte{1};
    request.set_label(0);
  }

 private:
  data::Split split_;
  data::SampleSpec spec_{.name = "one_bad", .shape = {1, 1, 1}, .classes = 2};
};

std::unique_ptr<data::DataSource> open_one_bad(const data::SourceOptions& options) {
  return std::make_unique<OneBad>(options.split);
}
std::unique_ptr<data::DataSource> open_nothing(const data::SourceOptions& /*options*/) {
  throw DataError("[nothing] no such folder");
}

Printed verify(const char* source) {
  const std::string recipe = testing::TempDir() + "lockstep-verify-" + source + ".textproto";
  std::ofstream(recipe) << "data { name: \"" << source << "\" }";
  train::Extensions own;
  own.sources = {{"one_bad", open_one_bad}, {"nothing", open_nothing}};
  return output_of([&] { return verify_data_command({.recipe = recipe, .threads = 2}, own); });
}

TEST(VerifyDataCommand, ListsEveryFaultAndCounts) {
  const Printed printed = verify("one_bad");
  EXPECT_EQ(printed.status, 65);
  EXPECT_EQ(printed.out,
            "training sample 3: [one_bad] a.jpg: damaged\n"
            "training data of one_bad: 5 samples, 1 faulty\n"
            "evaluation data of one_bad: 5 samples, 0 faulty\n");
}

TEST(VerifyDataCommand, DataThatCannotBeOpenedIsAFaultToo) {
  const Printed printed = verify("nothing");
  EXPECT_EQ(printed.status, 65);
  EXPECT_EQ(printed.out,
            "training data: [nothing] no such folder\nevaluation data: [nothing] no such folder\n");
}

TEST(VerifyDataCommand, GoodDataHasStatusZero) {
  EXPECT_EQ(verify("synthetic").status, 0);
}

}  // namespace
}  // namespace lockstep::launcher
