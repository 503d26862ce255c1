// SPDX-License-Identifier: BSD-3-Clause
#include "workbench/job.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>

#include "commands/child_process.hpp"
#include "report/error.hpp"

namespace tool {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto look = std::chrono::milliseconds(100);  // between looks at the cancel flag
constexpr auto patience = std::chrono::seconds(15);    // from Ctrl-C to the end of a command
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 36;
constexpr std::size_t most_told = 2000;  // characters of an error

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

// Reads events until the command closes its pipe; asks it to stop when `cancel` says so, and kills it after a while.
void follow(const Child &child, const std::function<void(const std::string &)> &event, const std::atomic<int> &cancel) {
  std::string pending;
  bool asked = false;
  Clock::time_point limit{};
  const auto take = [&](const std::string &line) {
    event(line);
    return false;
  };
  while (read_lines(child.report, Clock::now() + look, take, pending) == Reading::time_limit) {
    if (cancel.load() == 0) continue;
    if (!asked) {
      kill(-child.process, SIGINT);
      asked = true;
      limit = Clock::now() + patience;
    } else if (Clock::now() > limit) {
      kill(-child.process, SIGKILL);
    }
  }
}

// A command that closed its pipe is about to end, unless it was asked to stop and does not.
int wait_for(const Child &child, const std::atomic<int> &cancel) {
  int status = 0;
  Clock::time_point limit{};
  while (waitpid(child.process, &status, WNOHANG) == 0) {
    usleep(5000);
    if (cancel.load() == 0) continue;
    if (limit == Clock::time_point{}) {
      kill(-child.process, SIGINT);
      limit = Clock::now() + patience;
    } else if (Clock::now() > limit) {
      kill(-child.process, SIGKILL);
    }
  }
  return status;
}

}  // namespace

Result run_job(const std::vector<std::string> &arguments, bool with_events,
               const std::function<void(const std::string &)> &event, const std::atomic<int> &cancel) {
  const Descriptor output(memory_file()), errors(memory_file());
  std::vector<std::string> line = {"sextant"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  const Child child =
      start_child(line, with_events ? "--events" : "", "/dev/fd/{}", output.number, errors.number, most_bytes);
  const Descriptor report(child.report);
  follow(child, event, cancel);
  const int status = wait_for(child, cancel);
  Result result;
  const std::string said = sentence_of(content_of(errors));
  if (WIFSIGNALED(status)) {
    result.error = cancel.load() ? "cancelled" : "the command ended by " + signal_text(WTERMSIG(status));
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
