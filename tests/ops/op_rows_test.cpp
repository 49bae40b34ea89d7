#include "tests/ops/op_rows.h"

#include <gtest/gtest.h>

#include <set>

namespace lockstep::test {
namespace {

/// Calls visit(row) for every row of every folder.
template <class Visit>
void for_each_row(Visit visit) {
  for (const OpFolder& folder : op_folders()) {
    for (const OpRow& row : folder.rows) visit(row);
  }
}

TEST(OpRows, EveryFolderHasRowsWithNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const OpFolder& folder : op_folders()) EXPECT_FALSE(folder.rows.empty()) << folder.name;
  for_each_row([&](const OpRow& row) { EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice"; });
}

TEST(OpRows, AgreeWithTheirReferences) {
  for_each_row([](const OpRow& row) {
    check_values(row.checked);
    if (measure_errors(row.checked).differentiable) check_gradients(row.checked);
  });
}

}  // namespace
}  // namespace lockstep::test
