// The scalar formulas of element-wise operations, written once for every device. A unary formula has value(x)
// and gradient(g, saved), where g is the gradient of the result and `saved` what kSaves names.
#pragma once

#include <cmath>

// The compiler of device code needs the markers that others do not know.
#if defined(__CUDACC__)
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

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
  HOST_DEVICE float value(float x) const { return std::exp(x); }
  HOST_DEVICE float gradient(float g, float y) const { return g * y; }
};

struct Log {
  static constexpr const char* kName = "log";
  static constexpr Saves kSaves = Saves::kInput;
  HOST_DEVICE float value(float x) const { return std::log(x); }
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

struct Tanh {
  static constexpr const char* kName = "tanh";
  static constexpr Saves kSaves = Saves::kOutput;
  HOST_DEVICE float value(float x) const { return std::tanh(x); }
  HOST_DEVICE float gradient(float g, float y) const { return g * (1 - y * y); }
};

struct Sigmoid {
  static constexpr const char* kName = "sigmoid";
  static constexpr Saves kSaves = Saves::kOutput;
  HOST_DEVICE float value(float x) const { return 1 / (1 + std::exp(-x)); }
  HOST_DEVICE float gradient(float g, float y) const { return g * (y * (1 - y)); }
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
