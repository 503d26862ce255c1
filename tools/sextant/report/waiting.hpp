// SPDX-License-Identifier: BSD-3-Clause
// What is waited for: after two seconds stderr says so, on a terminal or where the log is to be talkative.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "input/context_options.hpp"

namespace tool {

// While it lives, "setting up: 3 s" stands on the terminal, or a line comes every ten seconds where it is no terminal
// and
// --log is info or debug.
class Waiting {
 public:
  Waiting(std::string what, const ContextOptions &options);
  ~Waiting();
  Waiting(const Waiting &) = delete;
  Waiting &operator=(const Waiting &) = delete;

 private:
  void tell(bool terminal);

  std::string what_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool ended_ = false;
  std::thread teller_;
};

}  // namespace tool
