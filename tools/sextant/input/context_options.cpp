// SPDX-License-Identifier: BSD-3-Clause
// Shared options, and how a context is made from them.
#include "input/context_options.hpp"

#include <array>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <string_view>

#include "input/hints.hpp"
#include "input/log_file.hpp"
#include "input/numbers.hpp"
#include "report/output.hpp"
#include "report/quiet.hpp"

namespace tool {
namespace {

constexpr std::array<const char *, 6> levels = {"silent", "error", "misbehaving", "warning", "info", "debug"};

sxt_log_level level_of(const std::string &name) {
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (name == levels[i]) return static_cast<sxt_log_level>(i);
  }
  return SXT_LOG_WARNING;  // not reached: the parser checked the name
}

// Where the log goes, as long as the process lives.
struct LogTargets {
  sxt_log_level shown = SXT_LOG_WARNING;
  std::ofstream file;
  std::mutex mutex;
};

LogTargets &log_targets() {
  static LogTargets targets;
  return targets;
}

// Called from any thread of the library.
void print_log(void *, sxt_log_level level, const char *text) {
  const bool known = level >= 0 && static_cast<std::size_t>(level) < levels.size();
  const std::string line = fmt::format("{}: {}", known ? levels[static_cast<std::size_t>(level)] : "log", text);
  LogTargets &targets = log_targets();
  if (level <= targets.shown) message(line);
  const std::lock_guard lock(targets.mutex);
  if (targets.file.is_open()) targets.file << line << std::endl;  // a process that is killed leaves it behind
}

}  // namespace

void add_context_options(CLI::App &app, ContextOptions &options) {
  const std::string group = "Machine and plugins";
  app.add_option("--device", options.device, "cpu, cuda or auto (the first of cuda, cpu that is there)")
      ->group(group)
      ->capture_default_str();
  app.add_option("--threads", options.threads, "CPU threads; 0: all that the process may use")
      ->group(group)
      ->check(whole_number_from<int>(0));
  app.add_option(
         "--profile", options.profile,
         "Machine profile (TOML); default $SEXTANT_PROFILE, else what calibrate wrote for this machine, else analytic")
      ->group(group);
  app.add_option("--plugin-path", options.plugin_paths, "A further plugin file or directory, trusted; may be repeated")
      ->group(group)
      ->allow_extra_args(false);
  app.add_option("--log", options.log_level, "silent, error, misbehaving, warning, info or debug; on stderr")
      ->group(group)
      ->capture_default_str()
      ->check(one_of(std::vector<std::string>(levels.begin(), levels.end())));
  app.add_flag_callback("-q,--quiet", silence_progress, "No progress on a terminal")->group(group);
  app.add_flag("--deterministic", options.deterministic, "Equal bits for equal input, for any number of threads")
      ->group(group);
}

void keep_log(const std::string &path) { log_targets().file.open(path, std::ios::app); }

std::string described(const sxt_context *context) {
  return get_text(context, [context](char *buffer, std::int64_t capacity, std::int64_t *length) {
    return sxt_context_describe(context, buffer, capacity, length);
  });
}

// It stands in the last parentheses, and may have some of its own.
std::string profile_of(const std::string &description) {
  constexpr std::string_view front = " GB/s from cache (";
  const std::size_t at = description.find(front);
  if (at == std::string::npos || !description.ends_with(')')) return "";
  const std::size_t begin = at + front.size();
  const std::string inside = description.substr(begin, description.size() - 1 - begin);
  return inside == "analytic" ? "" : inside;
}

std::vector<std::string> context_line(const ContextOptions &options) {
  const ContextOptions usual;
  std::vector<std::string> line;
  const auto add = [&](const char *option, const std::string &value) {
    line.emplace_back(option);
    line.push_back(value);
  };
  if (options.device != usual.device) add("--device", options.device);
  if (options.threads != usual.threads) add("--threads", std::to_string(options.threads));
  if (!options.profile.empty()) add("--profile", options.profile);
  for (const std::string &path : options.plugin_paths) add("--plugin-path", path);
  if (options.log_level != usual.log_level) add("--log", options.log_level);
  if (options.deterministic) line.emplace_back("--deterministic");
  return line;
}

Context open_context(const ContextOptions &options, bool refusals_allowed) {
  std::vector<const char *> paths;
  for (const std::string &path : options.plugin_paths) paths.push_back(path.c_str());

  sxt_context_options native;
  sxt_context_options_init(&native, sizeof native);
  native.device = options.device.c_str();
  native.threads = options.threads;
  native.profile_path = options.profile.empty() ? nullptr : options.profile.c_str();
  native.plugin_paths = paths.empty() ? nullptr : paths.data();
  native.n_plugin_paths = paths.size();
  native.log = print_log;
  log_targets().shown = native.log_level = level_of(options.log_level);
  if (log_targets().file.is_open()) native.log_level = SXT_LOG_DEBUG;
  native.deterministic = options.deterministic ? 1 : 0;

  sxt_context *handle = nullptr;
  const sxt_status status = sxt_context_create(&native, &handle);
  Context context(handle);
  if (status == SXT_E_PLUGIN && refusals_allowed) {
    message(sxt_last_error(nullptr));
    return nullptr;
  }
  // A device this command knows by name but the machine does not have is no misspelling.
  if (status == SXT_E_UNKNOWN_NAME && (options.device == "cuda" || options.device == "cpu"))
    throw ToolError(exit_device, in_options(sxt_last_error(nullptr)), status);
  check(status, nullptr);
  return context;
}

}  // namespace tool
