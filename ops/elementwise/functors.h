// The scalar formulas of element-wise operations, written once for every device. A unary formula has value(x)
// and gradient(g, saved), where g is the gradient of the result and `saved` what kSaves names.
#pragma once

#include <cmath>

#include "ops/elementwise/scalar_math.h"

namespace lockstep::ops {

/// What a unary operation keeps for its gradient.
enum class Saves { kNothing, kInput, kOutput };

/// NaN stays NaN.
struct Relu {
  static constexpr const char* kName = "relu";
  static constexpr Saves kSaves = Saves::kOutput;
  HOST_DEVICE float value(float x) const { return 0 > x ? 0 : x; }
  HOST_DEVICE float gradient(float g, float y) const { return y <= 0 ? 0 : g; }
};

struct Neg {
  static constexpr const char* kName = "neg";
  static constexpr Saves kSaves = Saves::kNothing;
  HOST_DEVICE float value(float x) const { return -x; }
  HOST_DEVICE float gradient(float g, float) const { return -g; }
};

struct Scale {
  static constexpr const char* kName = "scale";
  static constexpr Saves kSaves = Saves::kNothing;
  float factor;
  HOST_DEVICE float value(float x) const { return x * factor; }
  HOST_DEVICE float gradient(float g, float) const { return g * factor; }
};

struct AddScalar {
  static constexpr const char* kName = "add_scalar";
  static constexpr Saves kSaves = Saves::kNothing;
  float addend;
  HOST_DEVICE float value(float x) const { return x + addend; }
  HOST_DEVICE float gradient(float g, float) const { return g; }
};

struct Exp {
  static constexpr const char* kName = "exp";
  static constexpr Saves kSaves = Saves::kOutput;
  HOST_DEVICE float value(float x) const { return exponential(x); }
  HOST_DEVICE float gradient(float g, float y) const { return g * y; }
};

struct Log {
  static constexpr const char* kName = "log";
  static constexpr Saves kSaves = Saves::kInput;
  HOST_DEVICE float value(float x) const { return logarithm(x); }
  HOST_DEVICE float gradient(float g, float x) const { return g / x; }
};

struct Sqrt {
  static constexpr const char* kName = "sqrt";
  static constexpr Saves kSaves = Saves::kOutput;
  HOST_DEVICE float value(float x) const { return std::sqrt(x); }
  HOST_DEVICE float gradient(float g, float y) const { return g / (2 * y); }
};

struct Square {
  static constexpr const char* kName = "square";
  static constexpr Saves kSaves = Saves::kInput;
  HOST_DEVICE float value(float x) const { return x * x; }
  HOST_DEVICE float gradient(float g, float x) const { return g * (2 * x); }
};

/// The gradient at 0 is 0.
struct Abs {
  static constexpr const char* kName = "abs";
  static constexpr Saves kSaves = Saves::kInput;
  HOST_DEVICE float value(float x) const { return std::fabs(x); }
  HOST_DEVICE float gradient(float g, float x) const { return x == 0 ? 0 : std::copysign(1.0F, x) * g; }
};

/// NaN stays NaN. The gradient passes where nothing was cut off, the bounds included.
struct Clamp {
  static constexpr const char* kName = "clamp";
  static constexpr Saves kSaves = Saves::kInput;
  float low;
  float high;
  HOST_DEVICE float value(float x) const {
    const float above = x < low ? low : x;
    return above > high ? high : above;
  }
  HOST_DEVICE float gradient(float g, float x) const { return x < low || x > high ? 0 : g; }
};

struct Tanh {
  static constexpr const char* kName = "tanh";
  static constexpr Saves kSaves = Saves::kOutput;
  HOST_DEVICE float value(float x) const { return hyperbolic_tangent(x); }
  HOST_DEVICE float gradient(float g, float y) const { return g * (1 - y * y); }
};

struct Sigmoid {
  static constexpr const char* kName = "sigmoid";
  static constexpr Saves kSaves = Saves::kOutput;
  HOST_DEVICE float value(float x) const { return 1 / (1 + exponential(-x)); }
  HOST_DEVICE float gradient(float g, float y) const { return g * (y * (1 - y)); }
};

/// The logistic function and its derivative, without overflow or cancellation on either side.
struct Logistic {
  float share;  ///< 1 / (1 + e^-x)
  float slope;  ///< share (1 - share)
};
HOST_DEVICE inline Logistic logistic(float x) {
  const float e = exponential(-std::fabs(x));  // at most 1
  const float share = 1 / (1 + e);
  return {x < 0 ? e * share : share, e * share * share};
}

/// x / (1 + e^-x): Elfwing, Uchibe and Doya, "Sigmoid-weighted linear units for neural network function
/// approximation in reinforcement learning", 2017.
struct Silu {
  static constexpr const char* kName = "silu";
  static constexpr Saves kSaves = Saves::kInput;
  HOST_DEVICE float value(float x) const { return x * logistic(x).share; }
  HOST_DEVICE float gradient(float g, float x) const {
    const Logistic l = logistic(x);
    return g * (l.share + x * l.slope);
  }
};

/// x P(N < x), N standard normal: Hendrycks and Gimpel, "Gaussian error linear units", 2016.
struct Gelu {
  static constexpr const char* kName = "gelu";
  static constexpr Saves kSaves = Saves::kInput;
  HOST_DEVICE float value(float x) const { return x * probability(x, bell(x)); }
  HOST_DEVICE float gradient(float g, float x) const {
    constexpr float kInverseSqrt2Pi = 0.398942280F;
    const float e = bell(x);
    return g * (probability(x, e) + x * (kInverseSqrt2Pi * e));
  }

 private:
  HOST_DEVICE static float bell(float x) { return exponential(-0.5F * (x * x)); }
  /// P(N < x), for e = bell(x). The tail's ratio to the bell, which falls from 1/2 like 1/|x|, is a
  /// polynomial in t: fitted for least relative error, 4.3e-8 up to |x| = 14.5, beyond which the bell is 0.
  HOST_DEVICE static float probability(float x, float e) {
    const float t = 1 / (1 + 0.27F * std::fabs(x));
    float p = 0.028961096F;
    p = p * t - 0.12648581F;
    p = p * t + 0.169786036F;
    p = p * t - 0.0692106411F;
    p = p * t + 0.107825547F;
    p = p * t + 0.0720496476F;
    p = p * t + 0.101810604F;
    p = p * t + 0.10754288F;
    p = p * t + 0.107720658F;
    const float tail = p * t * e;
    return x < 0 ? tail : 1 - tail;
  }
};

/// x / 2 (1 + tanh u) = x / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3): the approximation of the same
/// paper, which GPT-2 was trained with.
struct GeluTanh {
  static constexpr const char* kName = "gelu_tanh";
  static constexpr Saves kSaves = Saves::kInput;
  static constexpr float kSlope = 1.59576912F;  // 2 sqrt(2/pi)
  static constexpr float kCubic = 0.044715F;
  HOST_DEVICE float value(float x) const { return x * logistic(kSlope * (x + kCubic * (x * x * x))).share; }
  HOST_DEVICE float gradient(float g, float x) const {
    const Logistic l = logistic(kSlope * (x + kCubic * (x * x * x)));
    return g * (l.share + x * l.slope * (kSlope * (1 + 3 * kCubic * (x * x))));
  }
};

struct Add {
  static constexpr const char* kName = "add";
  HOST_DEVICE float value(float a, float b) const { return a + b; }
};

struct Sub {
  static constexpr const char* kName = "sub";
  HOST_DEVICE float value(float a, float b) const { return a - b; }
};

struct Mul {
  static constexpr const char* kName = "mul";
  HOST_DEVICE float value(float a, float b) const { return a * b; }
};

struct Div {
  static constexpr const char* kName = "div";
  HOST_DEVICE float value(float a, float b) const { return a / b; }
};

}  // namespace lockstep::ops
