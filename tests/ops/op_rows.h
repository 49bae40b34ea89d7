// The rows of docs/operations.md: every folder ops/<name>/ of an add_op() line has some, which its test
// defines as `test::OpRows <name>_rows()` in namespace lockstep::ops.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/support/op_case.h"

namespace lockstep::test {

/// One operation.
struct OpRow {
  std::string name;  ///< as it is called: "max_pool2d"
  OpCase checked;    ///< small: its values and gradients are compared with the reference
  /// The same operation on inputs of a typical size; their reference is not called.
  std::function<OpCase()> timed;
  /// Multiplications and additions of one forward of `timed`; 0: memory is what bounds it.
  double flops = 0;
  /// What the operation takes, where `run` converts its operands; else that is found by trying.
  std::string element_types = {};
};
using OpRows = std::vector<OpRow>;

/// The rows of one folder.
struct OpFolder {
  std::string name;  ///< "relu": declared in ops/relu/relu.h
  OpRows rows;
};

/// One entry for each add_op() line, in that order.
std::vector<OpFolder> op_folders();

}  // namespace lockstep::test
