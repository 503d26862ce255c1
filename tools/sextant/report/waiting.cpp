// SPDX-License-Identifier: BSD-3-Clause
#include "report/waiting.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "input/standard_input.hpp"
#include "report/output.hpp"
#include "report/quiet.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// Where the process stands in a file that it has open, in bytes; -1: it has not. (Linux)
std::int64_t place_in(const fs::path &file) {
  std::error_code error;
  for (fs::directory_iterator each("/proc/self/fd", error), end; !error && each != end; each.increment(error)) {
    if (fs::read_symlink(each->path(), error) != file || error) continue;
    std::ifstream info("/proc/self/fdinfo/" + each->path().filename().string());
    std::string name;
    std::int64_t place = -1;
    if (info >> name >> place && name == "pos:") return place;
  }
  return -1;
}

double left_of_file(const fs::path &file, double bytes, double passed) {
  const auto place = static_cast<double>(place_in(file));
  return place > 0 && place < bytes ? passed * (bytes - place) / place : unknown;
}

}  // namespace

Remaining predicted(double seconds) {
  return [seconds](double passed) { return seconds - passed; };
}

std::string left_text(double seconds) {
  if (!(seconds >= 0.5)) return "";  // NaN, or later than was thought
  return seconds < 90 ? fmt::format(", about {:.0f} s left", seconds)
                      : fmt::format(", about {:.0f} min left", seconds / 60);
}

Waiting reading(const std::string &path, const ContextOptions &options) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  const double bytes = error ? 0 : static_cast<double>(fs::file_size(file, error));
  Remaining left;
  if (!error) left = [file, bytes](double passed) { return left_of_file(file, bytes, passed); };
  return Waiting("reading " + (is_standard_input(path) ? "standard input" : path), options, std::move(left));
}

Waiting::Waiting(std::string what, const ContextOptions &options, Remaining remaining)
    : what_(std::move(what)), remaining_(std::move(remaining)) {
  const bool terminal = Progress().visible(), talkative = options.log_level == "info" || options.log_level == "debug";
  if (terminal || (talkative && !progress_is_silenced())) teller_ = std::thread([this, terminal] { tell(terminal); });
}

Waiting::~Waiting() {
  if (!teller_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  done_.notify_one();
  teller_.join();
}

void Waiting::tell(bool terminal) {
  using std::chrono::seconds;
  Progress line;
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  for (auto next = begin + seconds(2); !done_.wait_until(lock, next, [this] { return ended_; });
       next += seconds(terminal ? 1 : 10)) {
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const std::string text =
        fmt::format("{}: {:.0f} s{}", what_, std::floor(passed), remaining_ ? left_text(remaining_(passed)) : "");
    terminal ? line.show(text, true) : message(text);
  }
}

}  // namespace tool
