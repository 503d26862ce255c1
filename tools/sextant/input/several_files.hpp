// SPDX-License-Identifier: BSD-3-Clause
// A run over several files goes on where one of them cannot be used, names it, and tells so by its exit code.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "report/error.hpp"
#include "report/output.hpp"

namespace tool {

class SeveralFiles {
 public:
  explicit SeveralFiles(std::size_t count) : count_(count) {}

  // Does the work on one of them. A file that cannot be read (exit code 3), or that holds what this command does not
  // take (4), is left out, unless it is the only one. Throws every other failure.
  void visit(const std::string &path, const std::function<void()> &work) {
    try {
      work();
    } catch (const ToolError &error) {
      const bool unreadable = error.exit_code() == exit_bad_input;
      if (count_ == 1 || (!unreadable && error.exit_code() != exit_not_solved)) throw;
      const std::string sentence = error.what();
      const bool named = sentence.find(path) != std::string::npos;
      message(named ? "left out: " + sentence : "left out: " + path + ": " + sentence);
      left_out_.push_back({{"path", path}, {"reason", sentence}, {"unreadable", unreadable}});
      unreadable_ += unreadable;
    }
  }
  // Throws when every file was left out and nothing else is there to be measured.
  void require_some(bool others) const {
    if (others || count_ == 0 || left_out_.size() < count_) return;
    fail(unreadable_ ? exit_bad_input : exit_not_solved, "nothing is measured: all {} matrices were left out", count_);
  }

  // [] of {path, reason, unreadable}
  const Json &left_out() const { return left_out_; }
  // A wrong result weighs more than a file that was not there.
  int exit_code(int otherwise) const { return otherwise == exit_done && unreadable_ ? exit_bad_input : otherwise; }

 private:
  std::size_t count_, unreadable_ = 0;
  Json left_out_ = Json::array();
};

}  // namespace tool
