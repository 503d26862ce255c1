// SPDX-License-Identifier: BSD-3-Clause
// sextant plugin check: loads a plugin in a child process, runs the conformance suite of every kind its kernels belong
// to, and stores a stamp for the file when all passed.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "commands/child_process.hpp"
#include "commands/command.hpp"
#include "input/context_options.hpp"
#include "input/numbers.hpp"
#include "report/explanation.hpp"
#include "report/refusals.hpp"
#include "report/table.hpp"

namespace tool {
namespace {

struct CheckOptions {
  ContextOptions context;
  std::string path;
  double time_limit = 60;
  bool json = false, no_stamp = false, verbose = false;
  int report_to = -1;  // in the child: descriptor of the pipe
};

// ---- in the child: every line of the check, then one verdict, as JSON lines on the pipe ----

void send(int fd, const Json &json) {
  const std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t wrote = write(fd, line.data() + done, line.size() - done);
    if (wrote <= 0) _exit(exit_internal);  // the parent is gone
    done += static_cast<std::size_t>(wrote);
  }
}

void send_line(void *user, const char *kernel, const char *check, std::int32_t outcome, const char *sentence) {
  send(*static_cast<int *>(user), {{"kernel", kernel ? kernel : ""},
                                   {"check", check ? check : ""},
                                   {"passed", outcome != SXT_CHECK_FAILED},
                                   {"declined", outcome == SXT_CHECK_DECLINED},
                                   {"sentence", sentence ? sentence : ""}});
}

// The last refusal record about this file; null when there is none.
Json refusal_of(const std::string &path) {
  Json found;
  for (const Json &refusal : refusals_json()) {
    std::error_code error;
    const auto recorded = refusal["path"].get<std::string>();
    if (recorded == path || std::filesystem::equivalent(recorded, path, error)) found = refusal;
  }
  return found;
}

Json verdict_of(sxt_status status, const std::string &sentence, const std::string &path) {
  Json verdict = {{"status", status}, {"stage", nullptr}, {"reason", status == SXT_OK ? "" : sentence}};
  const Json refusal = status == SXT_E_PLUGIN ? refusal_of(path) : Json();
  if (refusal.is_object()) {
    verdict["stage"] = refusal["stage"];
    verdict["reason"] = refusal["reason"];
  } else if (status == SXT_E_PLUGIN) {
    verdict["stage"] = "self-test";  // it was loaded; a check failed
  }
  return {{"verdict", verdict}};
}

// Never returns to the parser, so that the plugin's exit handlers are not run.
[[noreturn]] void check_in_child(CheckOptions options) {
  fcntl(options.report_to, F_SETFD, FD_CLOEXEC);
  Json verdict;
  try {
    const Context context = open_context(options.context);
    const sxt_status status =
        sxt_plugin_check(context.get(), options.path.c_str(), options.no_stamp ? 0 : 1, send_line, &options.report_to);
    verdict = verdict_of(status, status == SXT_OK ? "" : sxt_last_error(context.get()), options.path);
  } catch (const ToolError &error) {
    verdict = verdict_of(error.status() == SXT_OK ? SXT_E_INTERNAL : error.status(), error.what(), options.path);
  }
  send(options.report_to, verdict);
  std::fflush(stderr);
  _exit(exit_done);
}

// ---- in the parent ----

struct CheckResult {
  Json checks = Json::array();
  sxt_status status = SXT_E_PLUGIN;
  std::string stage, reason;
};

// A stage of a file none of whose kernels failed, but of which nothing was proven.
constexpr const char *not_proven = "not proven";

bool none_failed(const Json &checks) {
  return std::all_of(checks.begin(), checks.end(), [](const Json &check) { return check.value("passed", false); });
}

// What is said of a kernel as a whole, after its cases.
bool of_all_cases(const Json &check) {
  const std::string name = text_of(check, "check");
  return name == "verdict" || name == "predicted and measured times";
}

// The last step of the child, for the sentence about its end.
std::string where_it_ended(const Json &checks) {
  if (checks.empty()) return "while it was loaded or in its first check";
  const Json &last = checks.back();
  return fmt::format("after check \"{}\" of {}", text_of(last, "check"), text_of(last, "kernel"));
}

CheckResult check_in_parent(const CheckOptions &options, const std::vector<std::string> &arguments) {
  CheckResult result;
  Progress progress;
  const ChildEnd end = run_child(arguments, "--report-to", options.time_limit, [&](const std::string &text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return false;
    if (!json.contains("verdict")) {
      result.checks.push_back(json);
      progress.show(fmt::format("{} checks", result.checks.size()));
      return false;
    }
    result.status = json["verdict"].value("status", SXT_E_INTERNAL);
    result.stage = text_of(json["verdict"], "stage");
    result.reason = text_of(json["verdict"], "reason");
    return true;
  });
  if (result.stage == "self-test" && none_failed(result.checks)) result.stage = not_proven;
  const std::string place = where_it_ended(result.checks);
  switch (end.how) {
    case ChildEnd::How::finished: break;
    case ChildEnd::How::signalled:
      result.stage = "crash";
      result.reason = fmt::format("ended by {} {}", signal_text(end.code), place);
      break;
    case ChildEnd::How::exited:
      result.stage = "exit";
      result.reason = fmt::format("ended the process with exit code {} {}", end.code, place);
      break;
    case ChildEnd::How::time_limit:
      result.stage = "time limit";
      result.reason = fmt::format("not done after {:g} s; stopped {}", options.time_limit, place);
      break;
  }
  return result;
}

// The lines of cases, or those about all of them; counts them, and those that were declined. Lines of declined cases
// only where `every` is set: a kernel declines most of its kind's cases.
std::string checks_table(const Json &checks, bool of_all, bool every, std::size_t &count, std::size_t &declined) {
  Table table({{"kernel"}, {"check"}, {"result"}, {of_all ? "what it rests on" : "error in bounds, remarks"}});
  for (const Json &check : checks) {
    if (of_all_cases(check) != of_all) continue;
    const bool good = check.value("passed", false), was_declined = check.value("declined", false);
    ++count;
    declined += was_declined;
    if (was_declined && !every) continue;
    const char *result = !good ? "FAILED" : !was_declined ? "passed" : of_all ? "not proven" : "declined";
    table.add({text_of(check, "kernel"), text_of(check, "check"), result, text_of(check, "sentence")},
              good ? Style::plain : Style::bad);
  }
  return table.empty() ? "" : table.text();
}

void print_result(const CheckOptions &options, const CheckResult &result) {
  const bool passed = result.status == SXT_OK;
  if (options.json) {
    print_json({{"path", options.path},
                {"passed", passed},
                {"stage", result.stage.empty() ? Json() : Json(result.stage)},
                {"reason", result.reason.empty() ? Json() : Json(result.reason)},
                {"checks", result.checks}});
    return;
  }
  std::size_t cases = 0, declined = 0;
  const std::string table = checks_table(result.checks, false, options.verbose, cases, declined);
  print_text(table);
  if (declined > 0 && !options.verbose) print("{} cases were declined; --verbose lists them\n", declined);
  std::size_t kernels = 0, none = 0;
  if (const std::string verdicts = checks_table(result.checks, true, true, kernels, none); !verdicts.empty())
    print("{}{}", cases == 0 ? "" : "\n", verdicts);
  const bool open = result.stage == not_proven;
  print("{} {}",
        styled(passed ? Style::good : Style::bad, passed ? "accepted"
                                                  : open ? "not proven"
                                                         : "refused"),
        options.path);
  if (passed)
    print(": {} checks passed, {} cases declined{}\n", cases - declined, declined,
          options.no_stamp ? "" : "; remembered as checked");
  else if (open)
    print(": {}\n", result.reason);
  else
    print(" (stage {}): {}\n", result.stage, result.reason);
}

int check_plugin(const CheckOptions &options, const std::vector<std::string> &arguments) {
  if (options.report_to >= 0) check_in_child(options);
  const CheckResult result = check_in_parent(options, arguments);
  // A missing file or a machine without the device says nothing about the plugin.
  if (result.status != SXT_OK && result.status != SXT_E_PLUGIN)
    throw ToolError(exit_code_of(result.status), result.reason, result.status);
  if (result.status == SXT_OK && result.checks.empty()) {
    fail(exit_device, "{}: nothing was checked: none of its kernels runs on this device; choose another with --device",
         options.path);
  }
  print_result(options, result);
  if (result.status == SXT_OK) return exit_done;
  message(result.stage == not_proven
              ? fmt::format("{} is not proven: {}", options.path, result.reason)
              : fmt::format("{} refused at stage {}: {}", options.path, result.stage, result.reason));
  return exit_refused;
}

constexpr const char *check_footer =
    R"(Every kernel is compared with the reference of its kind on the kind's own cases, in a child process that may
crash or hang without harm. A file that passes is remembered by content, and its kernels are then used without
a test in the process that loads them.
Example:
  sextant plugin check ./libmine.so && sextant solve A.mtx --plugin-path ./libmine.so
Each case that ran has a line. After its cases each kernel has a verdict: how many cases and sizes it rests on, and how far
the kernel's model was from what runs took.
Exit code 6: refused, or nothing was proven; the stage and the reason are printed. 3: no such file.)";

}  // namespace

void add_plugin_check(CLI::App &parent, const std::vector<std::string> &arguments, Action &action) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App *plugin = parent.add_subcommand("plugin", "Write a plugin, or check one");
  plugin->require_subcommand(0, 1);
  plugin->footer(
      "Examples:\n  sextant plugin new spmv mine\n  sextant plugin check mine/build/mine.so\n"
      "sextant plugin new --help and sextant plugin check --help have their options.");
  add_plugin_new(*plugin, action);
  CLI::App *app = plugin->add_subcommand("check", "Run a plugin through the tests of its kinds, in a child process");
  app->add_option("file", options->path, "The plugin")->required()->type_name("FILE.so");
  app->add_option("--time-limit", options->time_limit, "Seconds until the child is stopped")
      ->capture_default_str()
      ->check(positive_number());
  app->add_flag("--no-stamp", options->no_stamp, "Do not remember that the file passed");
  app->add_flag("--verbose", options->verbose, "A line for each case that was declined, too");
  app->add_flag("--json", options->json, "The result as JSON");
  app->add_option("--report-to", options->report_to)->group("");  // hidden: the child's side
  add_context_options(*app, options->context);
  app->footer(check_footer);
  app->callback(
      [options, arguments, &action] { action = [options, arguments] { return check_plugin(*options, arguments); }; });
}

}  // namespace tool
