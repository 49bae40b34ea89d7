#include "launcher/world.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/support/expect_error.h"
#include "train/config.h"

namespace lockstep::launcher {
namespace {

TEST(World, WithoutALauncherThereIsOneRankAndNoMpi) {
  World world(identify([](const std::string&) { return std::nullopt; }), train::default_config(), {});
  EXPECT_EQ(world.communicator().rank(), 0);
  EXPECT_EQ(world.communicator().size(), 1);
  world.communicator().barrier();
  world.leave();
}

TEST(World, AnAlgorithmThatIsNotReproducibleIsRefused) {
  TrainConfig config = train::default_config();
  config.mutable_comm()->set_algorithm("ring");
  const Identity alone = identify([](const std::string&) { return std::nullopt; });
  EXPECT_THROW(World(alone, config, {}), InvalidArgument);
  config.set_numerics(TrainConfig::FAST);
  EXPECT_NO_THROW(World(alone, config, {}));
}

}  // namespace
}  // namespace lockstep::launcher
