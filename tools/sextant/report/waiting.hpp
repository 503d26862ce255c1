// SPDX-License-Identifier: BSD-3-Clause
// Reports long waits: after two seconds stderr names the step, on a terminal or with a verbose log.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "input/context_options.hpp"

namespace tool {

// While it lives, the terminal shows "setting up: 3 s"; without a terminal a line is written every ten seconds if --log
// is info or debug.
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
