// SPDX-License-Identifier: BSD-3-Clause
// Reports long waits: after two seconds stderr names the step and what remains, on a terminal or with a verbose log.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "input/context_options.hpp"

namespace tool {

// From the seconds that have passed to those that remain; NaN where that is not known. Called from another thread.
using Remaining = std::function<double(double passed)>;
// What a model predicts, in all.
Remaining predicted(double seconds);

// While it lives, the terminal shows "factoring: 3 s, about 5 s left"; without a terminal a line is written every ten
// seconds if
// --log is info or debug. --quiet: nothing.
class Waiting {
 public:
  Waiting(std::string what, const ContextOptions &options, Remaining remaining = {});
  ~Waiting();
  Waiting(const Waiting &) = delete;
  Waiting &operator=(const Waiting &) = delete;

 private:
  void tell(bool terminal);

  std::string what_;
  Remaining remaining_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool ended_ = false;
  std::thread teller_;
};

// While a file is read; what remains is known from the place in it.
Waiting reading(const std::string &path, const ContextOptions &options);

// "", or ", about 5 s left".
std::string left_text(double seconds);

}  // namespace tool
