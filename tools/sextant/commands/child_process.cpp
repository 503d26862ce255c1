// SPDX-License-Identifier: BSD-3-Clause
// fork, exec, a pipe, a deadline.
#include "commands/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "report/error.hpp"

namespace tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr rlim_t most_output = rlim_t{16} << 20;  // bytes of any file that the child writes

// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become(const std::vector<char *> &arguments, int report, int output, int errors, rlim_t most) {
  setpgid(0, 0);                     // so that all it starts can be killed with it
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // and it dies with the parent
  std::signal(SIGPIPE, SIG_DFL);  // whatever this process blocks or ignores
  sigset_t none_blocked;
  sigemptyset(&none_blocked);
  sigprocmask(SIG_SETMASK, &none_blocked, nullptr);
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const struct rlimit much = {most, most};
  setrlimit(RLIMIT_FSIZE, &much);
  dup2(output, STDOUT_FILENO);  // a plugin that prints must not spoil the data
  dup2(errors, STDERR_FILENO);
  fcntl(report, F_SETFD, 0);
  execv("/proc/self/exe", arguments.data());
  _exit(127);
}

// What the child printed, to the parent's stderr.
void pass_on(int output) {
  char buffer[4096];
  lseek(output, 0, SEEK_SET);
  for (ssize_t got; (got = read(output, buffer, sizeof buffer)) > 0;)
    std::fwrite(buffer, 1, static_cast<std::size_t>(got), stderr);
  close(output);
}

int milliseconds_left(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

// Waits for the child to end; false when it has not by the deadline.
bool wait_until(pid_t child, Clock::time_point deadline, int &status) {
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() >= deadline) return false;
    usleep(2000);
  }
  return true;
}

}  // namespace

int memory_file() {
  const int file = memfd_create("output of a child", MFD_CLOEXEC);
  if (file < 0) fail(exit_device, "no memory for a child's output: {}", std::strerror(errno));
  return file;
}

Child start_child(const std::vector<std::string> &arguments, const std::string &flag, const std::string &value,
                  int standard_output, int standard_error, std::uint64_t most_bytes) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(exit_device, "no pipe to a child process: {}", std::strerror(errno));
  // Everything is allocated before fork.
  std::vector<std::string> owned = arguments;
  // After "--" there are no more options.
  if (!flag.empty())
    owned.insert(std::find(owned.begin(), owned.end(), "--"), {flag, fmt::format(fmt::runtime(value), ends[1])});
  std::vector<char *> pointers;
  for (std::string &argument : owned) pointers.push_back(argument.data());
  pointers.push_back(nullptr);

  const pid_t child = fork();
  if (child == 0) become(pointers, ends[1], standard_output, standard_error, most_bytes);
  const int fork_error = errno;
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    fail(exit_device, "no child process: {}", std::strerror(fork_error));
  }
  setpgid(child, child);  // in parent and child: either may come first
  return {child, ends[0]};
}

Reading read_lines(int descriptor, Clock::time_point deadline, const std::function<bool(const std::string &)> &line,
                   std::string &pending) {
  char buffer[4096];
  while (true) {
    struct pollfd ready = {descriptor, POLLIN, 0};
    const int count = poll(&ready, 1, milliseconds_left(deadline));
    if (count == 0 && Clock::now() >= deadline) return Reading::time_limit;
    if (count <= 0) continue;
    const ssize_t got = read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Reading::closed;
    pending.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
      if (line(pending.substr(0, end))) return Reading::last;
    }
  }
}

ChildEnd run_child(const std::vector<std::string> &arguments, const std::string &flag, double time_limit,
                   const std::function<bool(const std::string &)> &line) {
  const int output = memory_file();
  Child started;
  try {
    started = start_child(arguments, flag, "{}", output, output, most_output);
  } catch (...) {
    close(output);
    throw;
  }
  const int child = started.process;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit));
  std::string pending;
  const Reading reading = read_lines(started.report, deadline, line, pending);
  close(started.report);
  int status = 0;
  const bool ended = reading == Reading::closed && wait_until(child, deadline, status);
  if (!ended) {
    kill(-child, SIGKILL);
    waitpid(child, &status, 0);
  }
  pass_on(output);
  if (reading == Reading::last) return {};
  if (!ended) return {ChildEnd::How::time_limit, 0};
  kill(-child, SIGKILL);  // what it may have started
  if (WIFSIGNALED(status)) return {ChildEnd::How::signalled, WTERMSIG(status)};
  return {ChildEnd::How::exited, WEXITSTATUS(status)};
}

std::string signal_text(int signal) {
  const char *name = sigabbrev_np(signal), *sentence = strsignal(signal);
  return fmt::format("SIG{} ({})", name ? name : std::to_string(signal), sentence ? sentence : "unknown signal");
}

}  // namespace tool
