// SPDX-License-Identifier: BSD-3-Clause
// sextant retune: runs a CUDA program with its launches in better block sizes, where that is proven or declared
// harmless.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "commands/command.hpp"
#include "report/launches.hpp"
#include "report/output.hpp"
#include "report/write_file.hpp"
#include "workbench/folder.hpp"
#ifdef SEXTANT_RETUNE
#include "policy/allow.hpp"
#endif

namespace tool {
namespace {

namespace fs = std::filesystem;

struct RetuneOptions {
  std::string policy = "tiered", allow, report;
  bool dry_run = false;
  std::vector<std::string> program;
};

#ifdef SEXTANT_RETUNE

constexpr const char *library_name = "libsextant-retune.so";
constexpr int not_found = 127, signalled = 128;  // as shells say it

// Beside the command's own libraries, in the build tree and installed.
std::string library_path() {
  std::error_code error;
  const fs::path bin = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char *folder : {"../lib/sextant", "../" SEXTANT_LIBDIR "/sextant"}) {
    const fs::path path = (bin / folder / library_name).lexically_normal();
    if (!fs::exists(path, error)) continue;
    if (path.string().find_first_of(" :") != std::string::npos)
      fail(exit_bad_input, "{}: a path with a blank or a colon cannot be preloaded; install Sextant elsewhere",
           path.string());
    return path;
  }
  fail(exit_bad_input, "{} was not found beside this command: install it again", library_name);
}

using Variables = std::vector<std::pair<std::string, std::string>>;

Variables environment(const RetuneOptions &options, const std::string &reports) {
  const char *preloaded = std::getenv("LD_PRELOAD");
  Variables all = {{"LD_PRELOAD", library_path() + (preloaded && *preloaded ? std::string(":") + preloaded : "")},
                   {"SEXTANT_RETUNE_POLICY", options.policy},
                   {"SEXTANT_RETUNE_REPORT", reports},
                   {"SEXTANT_RETUNE_ALLOW", options.allow.empty() ? "" : fs::absolute(options.allow).string()},
                   {"SEXTANT_RETUNE_DRY_RUN", options.dry_run ? "1" : ""}};
  return all;
}

// In the child; errors go back through the pipe that exec closes.
[[noreturn]] void start_program(std::vector<char *> &arguments, const Variables &variables, int errors) {
  for (const auto &[name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  execvp(arguments[0], arguments.data());
  const int reason = errno;
  if (write(errors, &reason, sizeof reason) < 0) _exit(not_found);
  _exit(not_found);
}

volatile std::sig_atomic_t child = 0;
void pass_signal(int signal) {
  if (child > 0) kill(child, signal);
}

// The terminal's signals reach the program by themselves; those sent to this process are passed on.
void wait_as_it_does() {
  for (const int signal : {SIGINT, SIGQUIT}) std::signal(signal, SIG_IGN);
  for (const int signal : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    struct sigaction action {};
    action.sa_handler = pass_signal;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

int run_program(const RetuneOptions &options, const Variables &variables) {
  std::vector<std::string> owned = options.program;
  std::vector<char *> arguments;
  for (std::string &word : owned) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(exit_device, "no pipe to the program: {}", std::strerror(errno));
  const pid_t process = fork();
  if (process == 0) start_program(arguments, variables, ends[1]);
  const int fork_error = errno;
  close(ends[1]);
  if (process < 0) fail(exit_device, "no process for the program: {}", std::strerror(fork_error));
  child = process;
  wait_as_it_does();
  int reason = 0, status = 0;
  const bool failed = read(ends[0], &reason, sizeof reason) == sizeof reason;
  close(ends[0]);
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (failed) fail(exit_bad_input, "{}: it could not be started: {}", options.program[0], std::strerror(reason));
  return WIFSIGNALED(status) ? signalled + WTERMSIG(status) : WEXITSTATUS(status);
}

Json read_reports(const RetuneOptions &options, const std::string &folder) {
  std::vector<fs::path> files;
  for (const auto &entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Json processes = Json::array();
  for (const fs::path &path : files) {
    std::ifstream file(path);
    Json one = Json::parse(file, nullptr, false);
    if (one.is_object()) processes.push_back(std::move(one));
  }
  return {{"policy", options.policy}, {"dry_run", options.dry_run}, {"processes", std::move(processes)}};
}

int retune(const RetuneOptions &options) {
  try {
    if (!options.allow.empty()) sextant::retune::AllowList{options.allow};
  } catch (const sextant::retune::FileError &error) {
    fail(exit_bad_input, "{}", error.what());
  }
  if (!options.report.empty()) check_writable(options.report);
  const Folder folder("");
  const int code = run_program(options, environment(options, folder.path()));
  const Json report = read_reports(options, folder.path());
  if (options.report.empty()) {
    message(launches_text(report));
    return code;
  }
  OutputFile file(options.report);
  file.write(fs::path(options.report).extension() == ".json"
                 ? report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                 : launches_text(report));
  file.commit();
  return code;
}

#else

int retune(const RetuneOptions &) {
  fail(exit_usage, "retune: this build has no retuner, which is for Linux on x86-64");
}

#endif

constexpr const char *retune_footer = R"(Examples:
  sextant retune -- ./simulation input.dat      tiered block sizes; the report goes to stderr when the program has ended
  sextant retune --policy measured --report r.json -- python3 train.py
  sextant retune --dry-run -- ./simulation      say what would be changed, and change nothing

A launch is changed only where it is one-dimensional, keeps its number of threads, and its kernel is proven to be indifferent
to its block size, or declared so with --allow. The exit code is the program's; 128 and the number of a signal that ended it.)";

}  // namespace

void add_retune(CLI::App &parent, Action &action) {
  auto options = std::make_shared<RetuneOptions>();
  CLI::App *app = parent.add_subcommand("retune", "Run a CUDA program with better block sizes, where provably safe");
  app->add_option("--policy", options->policy, "Which block size a launch gets")
      ->capture_default_str()
      ->check(CLI::IsMember({"published", "tiered", "occupancy", "measured"}));
  app->add_option("--allow", options->allow, "Kernels that you declare indifferent to their block size")
      ->type_name("FILE.toml");
  app->add_flag("--dry-run", options->dry_run, "Report what would be changed, and change nothing");
  app->add_option("--report", options->report, "Every kernel that was launched; JSON where it ends in .json")
      ->type_name("FILE");
  app->add_option("program", options->program, "The program and its arguments, behind --")
      ->required()
      ->type_name("PROGRAM ARGS...");
  app->footer(retune_footer);
  app->callback([options, &action] { action = [options] { return retune(*options); }; });
}

}  // namespace tool
