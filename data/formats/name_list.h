// Many names in one piece of memory: a data set may have millions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::data {

class NameList {
 public:
  int64_t size() const { return static_cast<int64_t>(ends_.size()); }
  void push_back(std::string_view name) {
    text_ += name;
    ends_.push_back(text_.size());
  }
  std::string_view operator[](int64_t index) const {
    const size_t begin = index == 0 ? 0 : ends_[static_cast<size_t>(index - 1)];
    return std::string_view(text_).substr(begin, ends_[static_cast<size_t>(index)] - begin);
  }

 private:
  std::string text_;
  std::vector<size_t> ends_;
};

}  // namespace lockstep::data
