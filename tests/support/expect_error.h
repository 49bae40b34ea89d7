// Checks an error's kind and text.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace lockstep::test {

/// `call` must throw an E whose text contains `text`.
template <class E, class Call>
void expect_error(Call&& call, const std::string& text) {
  try {
    call();
  } catch (const E& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
        << "error says: " << error.what() << "\nexpected in it: " << text;
    return;
  }
  ADD_FAILURE() << "no error; expected one that says: " << text;
}

}  // namespace lockstep::test
