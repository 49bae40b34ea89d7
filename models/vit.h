// A vision transformer: Dosovitskiy et al., "An image is worth 16x16 words", ICLR 2021, in the small size of
// Touvron et al., "Training data-efficient image transformers", ICML 2021 (22 million parameters for 224 x
// 224 images and a thousand classes).
//
//   image -> a vector per patch (conv_proj), class_token in front, encoder.pos_embedding added, [dropout]
//         -> encoder.layers.encoder_layer_0 .. (attention, MLP)   ->   encoder.ln of the class token   ->
//         heads.head
//
// Parameters have the names, shapes and first values of torchvision's VisionTransformer: heads.head and the
// class token start as 0.
#pragma once

#include <memory>

#include "models/model_options.h"
#include "models/module.h"

namespace lockstep::models {

/// Reads input = [channels, height, width of the image], classes, layers (default 12), heads (6), width
/// (384), patch (16) and dropout, which acts on the embeddings and on the branches, not on attention's
/// probabilities. The MLP is 4 widths wide. Has no batch norm and does not look at that option, which
/// configurations set unless told otherwise. Throws ConfigError for other options, unless heads divides
/// width, and unless patches of this size divide the image.
std::unique_ptr<Module> make_vit_small(const ModelOptions& options);

}  // namespace lockstep::models
