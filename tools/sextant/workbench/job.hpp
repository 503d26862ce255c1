// SPDX-License-Identifier: BSD-3-Clause
// Runs one command of this program in a child process, tells its events as they come, and stops it as Ctrl-C would.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workbench/result.hpp"

namespace tool {

// arguments: without the program's name. with_events: the command has --events. `event` is called for each line of
// progress. cancelled: asked several times a second; true asks the command to stop and to report what it has, and a
// command that does not stop is killed. The result has data or an error. When it throws, the command was killed.
Result run_job(const std::vector<std::string> &arguments, bool with_events,
               const std::function<void(const std::string &)> &event, const std::function<bool()> &cancelled);

}  // namespace tool
