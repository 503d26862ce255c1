// SPDX-License-Identifier: BSD-3-Clause
// Progress for programs: one JSON object a line, written as it happens, while stdout waits for the result.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "report/output.hpp"

namespace tool {

class Events {
 public:
  // path: a file or pipe, opened for writing; "": events go nowhere. Throws a ToolError.
  explicit Events(const std::string &path);
  bool wanted() const { return file_ != nullptr; }
  // Repeated events of a loop: at most `rate` a second pass.
  bool due(double rate = 20);
  void tell(const Json &event);

 private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  double next_ = 0;
};

// Adds --events.
void add_events(CLI::App &app, std::string &path);

}  // namespace tool
