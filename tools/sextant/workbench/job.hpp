// SPDX-License-Identifier: BSD-3-Clause
// Runs one command of this program in a child process, tells its events as they come, and stops it as Ctrl-C would.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "workbench/result.hpp"

namespace tool {

// arguments: without the program's name. with_events: the command has --events. `event` is called for each line of
// progress. cancel: 1 asks the command to stop and to report what it has; a command that does not stop is killed.
// The result has data or an error.
Result run_job(const std::vector<std::string> &arguments, bool with_events,
               const std::function<void(const std::string &)> &event, const std::atomic<int> &cancel);

}  // namespace tool
