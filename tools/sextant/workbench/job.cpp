// SPDX-License-Identifier: BSD-3-Clause
#include "workbench/job.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "commands/child_process.hpp"
#include "report/error.hpp"

namespace tool {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto look = std::chrono::milliseconds(100);           // between looks at the cancel flag
constexpr auto patience = std::chrono::seconds(15);             // from Ctrl-C to the end of a command
constexpr std::uint64_t most_written = std::uint64_t{1} << 36;  // by a command, into any file: matrices are large
constexpr off_t most_read = off_t{256} << 20;                   // of what it printed
constexpr std::size_t most_told = 2000;                         // characters of an error

// A descriptor that ends with its scope.
struct Descriptor {
  explicit Descriptor(int given) : number(given) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int number;
};

std::string content_of(const Descriptor &file) {
  struct stat facts {};
  if (fstat(file.number, &facts) != 0) return "";
  if (facts.st_size > most_read) fail(exit_bad_input, "the command printed more than {} MiB", most_read >> 20);
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = pread(file.number, text.data() + have, text.size() - have, static_cast<off_t>(have));
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

// What the command said, without the name in front of each line.
std::string sentence_of(std::string text) {
  for (std::size_t at; (at = text.find("sextant: ")) != std::string::npos;) text.erase(at, 9);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.size() > most_told ? text.substr(0, most_told) + " ..." : text;
}

// A started command, which ends with its scope.
class Running {
 public:
  Running(const Child &child, const std::function<bool()> &cancelled) : child_(child), cancelled_(cancelled) {}
  ~Running() {
    if (ended_) return;
    int status = 0;
    kill(-child_.process, SIGKILL);
    while (waitpid(child_.process, &status, 0) < 0 && errno == EINTR) {
    }
  }
  Running(const Running &) = delete;
  Running &operator=(const Running &) = delete;

  // Hands events on until the command closes its pipe.
  void follow(const std::function<void(const std::string &)> &event) {
    std::string pending;
    const auto take = [&](const std::string &line) {
      event(line);
      return false;
    };
    while (read_lines(child_.report, Clock::now() + look, take, pending) == Reading::time_limit) stop_if_wanted();
  }
  // A command that closed its pipe is about to end, unless it was asked to stop and does not.
  int wait() {
    int status = 0;
    while (true) {
      const pid_t got = waitpid(child_.process, &status, WNOHANG);
      if (got < 0 && errno != EINTR) fail(exit_internal, "a command was lost: {}", std::strerror(errno));
      if (got > 0) break;
      usleep(5000);
      stop_if_wanted();
    }
    ended_ = true;
    return status;
  }
  bool asked() const { return asked_; }

 private:
  // Asks once, as a second Ctrl-C would end the command without its report.
  void stop_if_wanted() {
    if (!asked_) {
      if (!cancelled_()) return;
      kill(-child_.process, SIGINT);
      asked_ = true;
      limit_ = Clock::now() + patience;
    } else if (Clock::now() > limit_) {
      kill(-child_.process, SIGKILL);
    }
  }

  const Child child_;
  const std::function<bool()> &cancelled_;
  bool asked_ = false, ended_ = false;
  Clock::time_point limit_{};
};

}  // namespace

Result run_job(const std::vector<std::string> &arguments, bool with_events,
               const std::function<void(const std::string &)> &event, const std::function<bool()> &cancelled) {
  const Descriptor output(memory_file()), errors(memory_file());
  std::vector<std::string> line = {"sextant"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  const Child child =
      start_child(line, with_events ? "--events" : "", "/dev/fd/{}", output.number, errors.number, most_written);
  const Descriptor report(child.report);
  Running running(child, cancelled);
  running.follow(event);
  const int status = running.wait();
  Result result;
  const std::string said = sentence_of(content_of(errors));
  if (WIFSIGNALED(status)) {
    result.error = running.asked() ? "cancelled" : "the command ended by " + signal_text(WTERMSIG(status));
    return result;
  }
  const int code = WEXITSTATUS(status);
  result.data = Json::parse(content_of(output), nullptr, false);
  if (code == exit_done && result.data.is_object()) return result;
  result.data = Json();
  result.error = !said.empty() ? said : fmt::format("the command ended with exit code {}", code);
  return result;
}

}  // namespace tool
