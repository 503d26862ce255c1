// SPDX-License-Identifier: BSD-3-Clause
// The options that all subcommands share (device, threads, profile, plugins, log), and the context made from them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "input/handle.hpp"

namespace tool {

struct ContextOptions {
  std::string device = "auto";
  int threads = 0;
  std::string profile;
  std::vector<std::string> plugin_paths;
  std::string log_level = "warning";
  bool deterministic = false;
};

// Adds --device, --threads, --profile, --plugin-path, --log and --deterministic to a subcommand.
void add_context_options(CLI::App &app, ContextOptions &options);

// The options that differ from their defaults, as a command line has them.
std::vector<std::string> context_line(const ContextOptions &options);

// What the context says of its device and profile.
std::string described(const sxt_context *context);
// The profile in use, from that description: its path, or "" where predictions are
// analytic.
std::string profile_of(const std::string &description);

// Opens the context; its log goes to stderr. With `refusals_allowed` a refused plugin path is a message, and the
// context may be null: the registry's refusals are available in any case.
Context open_context(const ContextOptions &options, bool refusals_allowed = false);

}  // namespace tool
