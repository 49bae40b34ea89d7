// Look-up in the tables that name what a configuration can choose: a row has a `name`, and what stands behind
// it.
#pragma once

#include <iterator>
#include <string>
#include <vector>

#include "runtime/error.h"

namespace lockstep {

template <class Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

/// Those of a table of this library, then a program's own.
template <class Table, class Row>
std::vector<Row> with_own(const Table& table, const std::vector<Row>& own) {
  std::vector<Row> rows(std::begin(table), std::end(table));
  rows.insert(rows.end(), own.begin(), own.end());
  return rows;
}

/// The first row of that name. Throws ConfigError with the list of names when there is none; `kind` says what
/// they are names of.
template <class Row>
Row find_row(const char* kind, const std::vector<Row>& rows, const std::string& name) {
  std::string known;
  for (const Row& row : rows) {
    if (name == row.name) return row;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw ConfigError(to_text("[", kind, "] unknown name \"", name, "\"; known: ", known));
}

}  // namespace lockstep
