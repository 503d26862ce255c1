// SPDX-License-Identifier: BSD-3-Clause
// Runs this program again in a child process with a pipe for its report and a time limit: third-party code crashes and
// hangs there, not here.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tool {

struct ChildEnd {
  enum class How { finished, exited, signalled, time_limit };
  How how = How::finished;
  int code = 0;  // exit code or signal number
};

// Starts /proc/self/exe with arguments[1..] plus {flag, descriptor}. Each line the child writes to that descriptor goes
// to `line`, which returns true when it was the last one expected. What the child prints is kept and
// goes to stderr when it has ended, it dumps no core,
// and it and the processes it started are killed at the end or when the time is up.
ChildEnd run_child(const std::vector<std::string> &arguments, const std::string &flag, double time_limit,
                   const std::function<bool(const std::string &)> &line);

// "SIGSEGV (Segmentation fault)"
std::string signal_text(int signal);

}  // namespace tool
