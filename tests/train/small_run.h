// A configuration that trains in a fraction of a second, with everything that could depend on ranks: dropout,
// augmentation, batch norm, an uneven last batch.
#pragma once

#include "train/config.h"

namespace lockstep::train {

inline TrainConfig small_run() {
  return parse_config(R"(
    model { name: "cnn" hidden: [4, 8, 8] batch_norm: true dropout: 0.25 }
    data {
      name: "synthetic"
      classes: 4
      synthetic { train_samples: 50 test_samples: 21 height: 8 width: 8 }
      augment { crop_padding: 1 flip: true }
    }
    global_batch: 16
    micro_batch: 3
    epochs: 2
    threads: 1
    optimizer { lr: 0.05 }
    schedule { name: "cosine" warmup_epochs: 0.5 }
    metrics { hash_every: 1 curves: false }
    checkpoint { every_steps: 1 every_epochs: 0 keep: 20 }
  )",
                      "small_run");
}

}  // namespace lockstep::train
