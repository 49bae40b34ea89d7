#include "ops/elementwise/elementwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "ops/elementwise/scalar_math.h"
#include "runtime/autograd.h"
#include "tests/ops/op_rows.h"
#include "tests/support/op_case.h"
#include "tests/support/padded_layout.h"

namespace lockstep::ops {
namespace {

using test::Array;
using test::OpCase;
using test::random_array;

struct UnaryCase {
  const char* name;
  Tensor (*run)(const Tensor&);
  double (*reference)(double);
  double low, high;
};

double exact_gelu(double x) {
  return x / 2 * std::erfc(-x / std::numbers::sqrt2);
}

const std::vector<UnaryCase> kUnary = {
    {"neg", [](const Tensor& x) { return neg(x); }, [](double x) { return -x; }, -2, 2},
    {"scale", [](const Tensor& x) { return scale(x, -1.5); }, [](double x) { return -1.5 * x; }, -2, 2},
    {"add_scalar", [](const Tensor& x) { return add_scalar(x, 0.25); }, [](double x) { return x + 0.25; }, -2,
     2},
    {"exp", [](const Tensor& x) { return exp(x); }, [](double x) { return std::exp(x); }, -2, 2},
    {"log", [](const Tensor& x) { return log(x); }, [](double x) { return std::log(x); }, 0.2, 3},
    {"sqrt", [](const Tensor& x) { return sqrt(x); }, [](double x) { return std::sqrt(x); }, 0.2, 3},
    {"square", [](const Tensor& x) { return square(x); }, [](double x) { return x * x; }, -2, 2},
    {"abs", [](const Tensor& x) { return abs(x); }, [](double x) { return std::abs(x); }, -2, 2},
    {"clamp", [](const Tensor& x) { return clamp(x, -1, 0.5); },
     [](double x) { return std::min(std::max(x, -1.0), 0.5); }, -2, 2},
    {"tanh", [](const Tensor& x) { return tanh(x); }, [](double x) { return std::tanh(x); }, -2, 2},
    {"sigmoid", [](const Tensor& x) { return sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); },
     -4, 4},
    {"silu", [](const Tensor& x) { return silu(x); }, [](double x) { return x / (1 + std::exp(-x)); }, -9, 9},
    {"gelu", [](const Tensor& x) { return gelu(x); }, exact_gelu, -6, 6},
    {"gelu_tanh", [](const Tensor& x) { return gelu_tanh(x); },
     [](double x) {
       return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
     },
     -6, 6},
};

OpCase op_case(const UnaryCase& unary, const Shape& shape) {
  return {.name = unary.name,
          .inputs = {random_array(shape, 1, unary.low, unary.high)},
          .run = [unary](const std::vector<Tensor>& x) { return unary.run(x[0]); },
          .reference = [unary](const std::vector<Array>& x) { return test::map(x[0], unary.reference); }};
}

TEST(Elementwise, UnaryValuesAndGradients) {
  for (const UnaryCase& unary : kUnary) {
    for (const Shape& shape : {Shape{}, Shape{37}, Shape{2, 3, 5}, Shape{0, 4}}) {
      test::check_op(op_case(unary, shape));
    }
  }
}

struct BinaryCase {
  const char* name;
  Tensor (*run)(const Tensor&, const Tensor&);
  double (*reference)(double, double);
};

const std::vector<BinaryCase> kBinary = {
    {"add", add, [](double a, double b) { return a + b; }},
    {"sub", sub, [](double a, double b) { return a - b; }},
    {"mul", mul, [](double a, double b) { return a * b; }},
    {"div", div, [](double a, double b) { return a / b; }},
};

OpCase op_case(const BinaryCase& binary, const Shape& a, const Shape& b) {
  return {.name = to_text(binary.name, " of ", a, " and ", b),
          .inputs = {random_array(a, 1, -2, 2), random_array(b, 2, 0.5, 2)},
          .run = [binary](const std::vector<Tensor>& x) { return binary.run(x[0], x[1]); },
          .reference = [binary](const std::vector<Array>& x) { return zip(x[0], x[1], binary.reference); }};
}

const std::vector<std::pair<Shape, Shape>> kBroadcasts = {
    {{}, {}},         {{}, {5}},           {{4, 5}, {4, 5}},          {{4, 5}, {5}},
    {{4, 5}, {4, 1}}, {{4, 1}, {1, 5}},    {{2, 3, 4, 5}, {3, 1, 1}}, {{2, 3, 4, 5}, {2, 1, 4, 1}},
    {{1}, {2, 3, 4}}, {{2, 1, 3}, {4, 1}}, {{3, 4}, {2, 3, 4}},       {{1, 1, 3}, {3}},
    {{0, 3}, {3}},    {{0}, {1}},          {{2, 0, 3}, {1, 3}},
};

TEST(Elementwise, BinaryBroadcastsValuesAndGradients) {
  for (const BinaryCase& binary : kBinary) {
    for (const auto& [a, b] : kBroadcasts) {
      test::check_op(op_case(binary, a, b));
    }
  }
}

TEST(Elementwise, LargeOperandsUseAllThreadsAndExpandedViews) {
  const Tensor a = test::to_tensor(random_array({300, 257}, 1));
  const Tensor row = test::to_tensor(random_array({257}, 2));
  const std::vector<float> expected = add(a, row.expand({300, 257}).clone()).to_vector<float>();
  EXPECT_EQ(add(a, row).to_vector<float>(), expected);
  EXPECT_EQ(add(row.expand({300, 257}), a).to_vector<float>(), expected);
  EXPECT_EQ(add(a.narrow(1, 3, 100), row.narrow(0, 3, 100)).to_vector<float>(),
            add(a, row).narrow(1, 3, 100).to_vector<float>());
  EXPECT_EQ(neg(row.expand({2, 257})).to_vector<float>(),
            neg(row.expand({2, 257}).clone()).to_vector<float>());
}

TEST(Elementwise, OneOperandTwiceGetsBothGradients) {
  Tensor x = Tensor::from<float>({2, 3}, {2});
  x.set_requires_grad(true);
  backward(mul(x, x), {.seed = Tensor::full({2}, 1), .between_nodes = {}});
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{4, 6}));
}

TEST(Elementwise, ClampKeepsBoundsAndNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Tensor x = Tensor::from<float>({-1, 2, 3, nan}, {4});
  x.set_requires_grad(true);
  const Tensor y = clamp(x, -1, 2);
  EXPECT_TRUE(std::isnan(y.to_vector<float>()[3]));
  backward(y, {.seed = Tensor::full({4}, 1), .between_nodes = {}});
  EXPECT_EQ(x.grad().narrow(0, 0, 3).to_vector<float>(), (std::vector<float>{1, 1, 0}));
  EXPECT_EQ(clamp(test::padded_tensor({1, 2}, {2}), 1.5, 3).to_vector<float>(), (std::vector<float>{1.5, 2}));
  EXPECT_THROW(clamp(x, 1, 0), InvalidArgument);
}

TEST(Elementwise, ExponentialIsAccurateOverTheWholeRange) {
  std::vector<float> values;
  for (double x = -87.3; x < 88.7; x += 0.00371) values.push_back(static_cast<float>(x));
  const auto count = static_cast<int64_t>(values.size());
  const std::vector<float> result = exp(Tensor::from(values, {count})).to_vector<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = std::exp(static_cast<double>(values[i]));
    ASSERT_NEAR(result[i], expected, expected * 0x1p-22) << "exp(" << values[i] << ")";
  }
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto edges = exp(Tensor::from<float>({0, kInf, -kInf, 88.73F, -105, nan}, {6})).to_vector<float>();
  EXPECT_EQ(std::vector<float>(edges.begin(), edges.end() - 1), (std::vector<float>{1, kInf, 0, kInf, 0}));
  EXPECT_TRUE(std::isnan(edges.back()));
}

// The tail for negative x is small, but must not be noise: its relative error counts.
TEST(Elementwise, GeluIsAccurateOverTheWholeRange) {
  std::vector<float> values;
  for (double x = -12; x < 12; x += 0.00171) values.push_back(static_cast<float>(x));
  const auto count = static_cast<int64_t>(values.size());
  const std::vector<float> result = gelu(Tensor::from(values, {count})).to_vector<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = exact_gelu(static_cast<double>(values[i]));
    const double halved_square = 0.5 * values[i] * values[i];  // its rounding is the exponential's error
    ASSERT_NEAR(result[i], expected, std::abs(expected) * (8 + halved_square) * 0x1p-24)
        << "gelu(" << values[i] << ")";
  }
}

/// The largest |got - expected| in units in the last place of the expected f32, over all normal f32 values of
/// which `includes` holds, in steps that meet every exponent.
template <class Function, class Reference>
double worst_error(Function function, Reference reference, bool (*includes)(float)) {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 40009) {
    const auto x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (std::isnormal(x) && includes(x)) values.push_back(x);
  }
  const auto got = function(Tensor::from(values, {std::ssize(values)})).template to_vector<float>();
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = reference(static_cast<double>(values[i]));
    const double unit = std::max(0x1p-149, std::ldexp(1.0, std::ilogb(expected) - 23));
    worst = std::max(worst, std::abs(got[i] - expected) / unit);
  }
  return worst;
}

TEST(Elementwise, LogAndTanhAreRightToTheirLastBitsEverywhere) {
  EXPECT_LE(worst_error(
                log, [](double x) { return std::log(x); }, [](float x) { return x > 0; }),
            1);
  EXPECT_LE(worst_error(
                tanh, [](double x) { return std::tanh(x); }, [](float) { return true; }),
            2);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const auto logs =
      log(Tensor::from<float>({0, -0.0F, 1, kInf, -1, -kInf, std::nanf("")}, {7})).to_vector<float>();
  EXPECT_EQ(std::vector(logs.begin(), logs.begin() + 4), (std::vector<float>{-kInf, -kInf, 0, kInf}));
  for (size_t i = 4; i < logs.size(); ++i) EXPECT_TRUE(std::isnan(logs[i])) << i;
  const auto ratios = tanh(Tensor::from<float>({kInf, -kInf, -0.0F, std::nanf("")}, {4})).to_vector<float>();
  EXPECT_EQ(std::vector(ratios.begin(), ratios.begin() + 3), (std::vector<float>{1, -1, 0}));
  EXPECT_TRUE(std::signbit(ratios[2]));
  EXPECT_TRUE(std::isnan(ratios[3]));
}

TEST(Elementwise, VectorsOfAnyWidthGiveTheBitsOfSingleElements) {
  constexpr uint32_t kStep = 4099;  // a prime: numbers of all sizes, and of both signs
  constexpr int64_t kCount = (int64_t{1} << 32) / kStep;
  const Tensor x = Tensor::empty({kCount});
  for (uint32_t i = 0; i < kCount; ++i) x.data<float>()[i] = std::bit_cast<float>(i * kStep);
  const auto check_bits = [&](const Tensor& vectors, float (*single)(float)) {
    const auto bits = [](float y) { return y == y ? std::bit_cast<uint32_t>(y) : 0U; };  // one NaN for all
    int64_t different = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      if (bits(vectors.data<float>()[i]) != bits(single(x.data<float>()[i]))) ++different;
    }
    EXPECT_EQ(different, 0);
  };
  check_bits(exp(x), exponential);
  check_bits(log(x), logarithm);
  check_bits(tanh(x), hyperbolic_tangent);
}

TEST(Elementwise, GatedUnitsAreTheirLimitsFarFromZero) {
  for (const auto unit : {silu, gelu, gelu_tanh}) {
    Tensor x = Tensor::from<float>({-1000, -200, 0, 200, 1000}, {5});
    x.set_requires_grad(true);
    const Tensor y = unit(x);
    EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 0, 0, 200, 1000}));
    backward(y, {.seed = Tensor::full({5}, 1), .between_nodes = {}});
    EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 0, 0.5, 1, 1}));
    EXPECT_TRUE(std::isnan(unit(Tensor::scalar(std::nanf(""))).item()));
  }
}

TEST(Elementwise, NanAndInfinityPassThrough) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Tensor::from<float>({nan, kInf, -kInf}, {3});
  const auto sums = add(x, Tensor::scalar(1)).to_vector<float>();
  EXPECT_TRUE(std::isnan(sums[0]));
  EXPECT_EQ(sums[1], kInf);
  EXPECT_EQ(sums[2], -kInf);
  EXPECT_EQ(div(Tensor::scalar(1), Tensor::scalar(0)).item(), kInf);
  EXPECT_TRUE(std::isnan(sub(x, x).to_vector<float>()[1]));
  EXPECT_EQ(sigmoid(Tensor::scalar(-kInf)).item(), 0);
}

TEST(Elementwise, OpaqueLayoutIsKeptWherePaddingStaysZero) {
  const Tensor x = test::padded_tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor doubled = add(x, x);
  EXPECT_EQ(doubled.layout(), x.layout());
  EXPECT_EQ(doubled.to_vector<float>(), (std::vector<float>{2, 4, 6, 8, 10, 12}));
  EXPECT_EQ(test::padding_of(doubled), (std::vector<float>{0, 0}));
  EXPECT_EQ(test::padding_of(scale(x, 3)), (std::vector<float>{0, 0}));
  EXPECT_EQ(scale(x, std::numeric_limits<double>::infinity()).layout(), nullptr)
      << "0 * infinity in the padding";
  EXPECT_EQ(div(x, x).layout(), nullptr) << "0 / 0 in the padding";
  EXPECT_EQ(exp(x).layout(), nullptr) << "exp(0) in the padding";
  EXPECT_EQ(div(x, x).to_vector<float>(), std::vector<float>(6, 1));
  EXPECT_EQ(add(x, Tensor::scalar(1)).to_vector<float>(), (std::vector<float>{2, 3, 4, 5, 6, 7}));
}

TEST(Elementwise, ErrorsNameOperationAndBothShapes) {
  try {
    add(Tensor::zeros({2, 3}), Tensor::zeros({2, 4}));
    FAIL() << "shapes that do not broadcast were accepted";
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("[add]"), std::string::npos) << text;
    EXPECT_NE(text.find("[2, 3]"), std::string::npos) << text;
    EXPECT_NE(text.find("[2, 4]"), std::string::npos) << text;
  }
  EXPECT_THROW(mul(Tensor::zeros({2}), Tensor::zeros({2}, DType::kI64)), InvalidArgument);
  EXPECT_THROW(exp(Tensor::zeros({2}, DType::kF64)), InvalidArgument);
}

TEST(Elementwise, ChangedOperandIsNoticedInBackward) {
  Tensor x = Tensor::full({2}, 1);
  x.set_requires_grad(true);
  const Tensor y = square(x);
  x.fill(5);
  EXPECT_THROW(backward(y, {.seed = Tensor::full({2}, 1), .between_nodes = {}}), InvalidArgument);
}

}  // namespace

test::OpRows elementwise_rows() {
  test::OpRows rows;
  for (const BinaryCase& binary : kBinary) {
    rows.push_back({.name = binary.name, .checked = op_case(binary, {4, 5}, {5}), .timed = [binary] {
                      return op_case(binary, {1 << 22}, {1 << 22});
                    }});
  }
  for (const UnaryCase& unary : kUnary) {
    rows.push_back({.name = unary.name, .checked = op_case(unary, {2, 3, 5}), .timed = [unary] {
                      return op_case(unary, {1 << 22});
                    }});
  }
  return rows;
}

}  // namespace lockstep::ops
