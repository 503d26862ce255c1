// SPDX-License-Identifier: BSD-3-Clause
// The interface between main and the subcommands: each adds its options to the parser and stores the function to run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "report/error.hpp"

namespace tool {

// Filled by the parser callback of the subcommand that was given; returns the exit code.
using Action = std::function<int()>;

// Throws for the first of these options that was given: "NAME REASON".
inline void refuse_given(const CLI::App &app, const std::vector<std::string> &names, const std::string &reason) {
  for (const std::string &name : names)
    if (app.count(name) > 0) fail(exit_usage, "{} {}", name, reason);
}

void add_solve(CLI::App &app, Action &action);
void add_convert(CLI::App &app, Action &action);
void add_explain(CLI::App &app, Action &action);
void add_generate_solver(CLI::App &app, Action &action);
void add_machine(CLI::App &app, Action &action);
void add_model(CLI::App &app, Action &action);
void add_report(CLI::App &app, Action &action);
void add_retune(CLI::App &app, Action &action);
void add_workbench(CLI::App &app, Action &action);
void add_verify_model(CLI::App &app, Action &action);
void add_plugins(CLI::App &app, Action &action);
void add_bench(CLI::App &app, Action &action);
void add_bench_hermitian(CLI::App &bench, Action &action);
void add_hermitian(CLI::App &app, Action &action);
void add_calibrate(CLI::App &app, Action &action);
void add_completion(CLI::App &app, Action &action);
void add_manual(CLI::App &app, Action &action);
void add_plugin_new(CLI::App &plugin, Action &action);
// arguments: the whole command line, which the child process is started with again.
void add_plugin_check(CLI::App &app, const std::vector<std::string> &arguments, Action &action);

}  // namespace tool
