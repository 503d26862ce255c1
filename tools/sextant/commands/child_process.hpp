// SPDX-License-Identifier: BSD-3-Clause
// Runs this program again in a child process with a pipe for its report and a time limit: third-party code crashes and
// hangs there, not here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tool {

struct ChildEnd {
  enum class How { finished, exited, signalled, time_limit };
  How how = How::finished;
  int code = 0;  // exit code or signal number
};

// A started child: its process, and the end of its pipe that is read here.
struct Child {
  int process = -1, report = -1;
};
// Starts /proc/self/exe with arguments[1..]; what it prints goes to these descriptors, and no file it writes grows
// beyond most_bytes. {flag, value} is inserted before "--"; a {} in value stands for the descriptor of its end of the
// pipe. It leads a process group of its own and dies with this process.
Child start_child(const std::vector<std::string> &arguments, const std::string &flag, const std::string &value,
                  int standard_output, int standard_error, std::uint64_t most_bytes);
// An unnamed file in memory; throws when there is none.
int memory_file();

enum class Reading { last, closed, time_limit };
// Hands complete lines on until `line` returns true, the end of the pipe, or the deadline, of a steady clock.
Reading read_lines(int descriptor, std::chrono::steady_clock::time_point deadline,
                   const std::function<bool(const std::string &)> &line, std::string &pending);

// Starts /proc/self/exe with arguments[1..] plus {flag, descriptor}. Each line the child writes to that descriptor goes
// to `line`, which returns true when it was the last one expected. What the child prints is kept and
// goes to stderr when it has ended, it dumps no core,
// and it and the processes it started are killed at the end or when the time is up.
ChildEnd run_child(const std::vector<std::string> &arguments, const std::string &flag, double time_limit,
                   const std::function<bool(const std::string &)> &line);

// "SIGSEGV (Segmentation fault)"
std::string signal_text(int signal);

}  // namespace tool
