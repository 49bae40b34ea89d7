#include "data/formats/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "runtime/error.h"
#include "tests/data/error_of.h"
#include "tests/data/read_label.h"

namespace lockstep::data {
namespace {

struct Sample {
  std::vector<int> image;
  int64_t label;
  auto operator<=>(const Sample&) const = default;
};

Sample read(const DataSource& source, int64_t index) {
  std::vector<uint8_t> image(static_cast<size_t>(source.spec().nbytes()));
  const int64_t label = read_label(source, index, image.data());
  return {{image.begin(), image.end()}, label};
}

std::ostream& operator<<(std::ostream& out, const Sample& sample) {
  for (const int value : sample.image) out << value << ", ";
  return out << "label " << sample.label;
}

TEST(Synthetic, DescribesItself) {
  const SyntheticSource source({.size = 5, .shape = {3, 8, 9}, .classes = 4});
  EXPECT_EQ(source.size(), 5);
  EXPECT_EQ(source.spec().shape, (Shape{3, 8, 9}));
  EXPECT_EQ(source.spec().dtype, DType::kU8);
  EXPECT_EQ(source.spec().classes, 4);
}

TEST(Synthetic, SamplesArePinned) {
  const SyntheticSource source({.size = 2, .shape = {1, 2, 3}, .classes = 10, .seed = 1});
  EXPECT_EQ(read(source, 0), (Sample{{100, 157, 197, 58, 155, 95}, 2}));
  EXPECT_EQ(read(source, 1), (Sample{{145, 42, 148, 225, 75, 48}, 3}));
}

TEST(Synthetic, SamplesDependOnSeedSplitAndIndexAlone) {
  std::set<Sample> samples;
  for (const uint64_t seed : {1, 2}) {
    for (const Split split : {Split::kTrain, Split::kTest}) {
      const SyntheticSource source({.size = 20, .seed = seed, .split = split});
      const SyntheticSource larger({.size = 1000, .seed = seed, .split = split});
      for (int64_t index = 0; index < 20; ++index) {
        samples.insert(read(source, index));
        EXPECT_EQ(read(source, index), read(larger, index));
      }
    }
  }
  EXPECT_EQ(samples.size(), 80U);
}

/// Per class, the mean image of the source's samples.
std::vector<std::vector<double>> class_means(const DataSource& source) {
  const auto classes = static_cast<size_t>(source.spec().classes);
  std::vector<std::vector<double>> sums(classes,
                                        std::vector<double>(static_cast<size_t>(source.spec().nbytes())));
  std::vector<int> counts(classes);
  for (int64_t index = 0; index < source.size(); ++index) {
    const Sample sample = read(source, index);
    for (size_t i = 0; i < sample.image.size(); ++i) sums[sample.label][i] += sample.image[i];
    ++counts[sample.label];
  }
  for (size_t label = 0; label < classes; ++label) {
    EXPECT_GT(counts[label], 0) << "class " << label << " occurs";
    for (double& value : sums[label]) value /= counts[label];
  }
  return sums;
}

TEST(Synthetic, WhatTheTrainingSplitTeachesHoldsForTheTestSplit) {
  const SyntheticSource train({.size = 300});
  const SyntheticSource test({.size = 200, .split = Split::kTest});
  const auto means = class_means(train);
  int right = 0;
  for (int64_t index = 0; index < test.size(); ++index) {
    const Sample sample = read(test, index);
    std::vector<double> distances;
    for (const auto& mean : means) {
      double sum = 0;
      for (size_t i = 0; i < mean.size(); ++i)
        sum += (mean[i] - sample.image[i]) * (mean[i] - sample.image[i]);
      distances.push_back(sum);
    }
    right += std::min_element(distances.begin(), distances.end()) - distances.begin() == sample.label ? 1 : 0;
  }
  EXPECT_GE(right, 195);
}

TEST(Synthetic, RefusesWhatCannotBe) {
  expect_contains(error_of<InvalidArgument>([] { SyntheticSource({.size = 0}); }),
                  "samples: expected 1 or more, got 0");
  expect_contains(error_of<InvalidArgument>([] { SyntheticSource({.classes = 0}); }), "classes");
  expect_contains(error_of<InvalidArgument>([] { SyntheticSource({.shape = {28, 28}}); }), "got [28, 28]");
  expect_contains(error_of<InvalidArgument>([] { SyntheticSource({.shape = {0, 28, 28}}); }), "shape");
  const SyntheticSource source({.size = 5});
  for (const int64_t index : {-1, 5}) {
    expect_contains(error_of<InvalidArgument>([&] { read(source, index); }), "expected 0 to 4, got ");
  }
}

}  // namespace
}  // namespace lockstep::data
