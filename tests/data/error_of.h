// The text of the error that a call throws.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace lockstep::data {

/// Fails the test unless `call` throws an E.
template <class E, class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
}

}  // namespace lockstep::data
