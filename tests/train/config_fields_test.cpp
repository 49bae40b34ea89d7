#include "train/config_fields.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "train/config.h"
#include "train/config_set.h"

namespace lockstep::train {
namespace {

TEST(ConfigFields, NameEveryFieldInFull) {
  TrainConfig config = default_config();
  apply_set(config, "optimizer.lr=0.25");
  apply_set(config, "data.augment.crop_padding=4");
  apply_set(config, "optimizer.rules={pattern: \"*.bias\" lr_factor: 2}");
  const auto fields = config_fields(config);
  for (const std::pair<std::string, std::string> field :
       {std::pair("optimizer.lr", "0.25"), std::pair("data.augment.crop_padding", "4"),
        std::pair("seed", "1"), std::pair("optimizer.rules.pattern", "\"*.bias\"")}) {
    EXPECT_EQ(std::count(fields.begin(), fields.end(), field), 1) << field.first;
  }
}

TEST(ConfigFields, OneFieldChangesOneEntry) {
  const auto before = config_fields(default_config());
  TrainConfig config = default_config();
  apply_set(config, "comm.bucket_bytes=1000");
  const auto after = config_fields(config);
  ASSERT_EQ(before.size(), after.size());
  int different = 0;
  for (size_t i = 0; i < before.size(); ++i) different += before[i] != after[i];
  EXPECT_EQ(different, 1);
}

}  // namespace
}  // namespace lockstep::train
