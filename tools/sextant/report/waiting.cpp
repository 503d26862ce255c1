// SPDX-License-Identifier: BSD-3-Clause
#include "report/waiting.hpp"

#include <chrono>
#include <utility>

#include "report/output.hpp"

namespace tool {

Waiting::Waiting(std::string what, const ContextOptions &options) : what_(std::move(what)) {
  const bool terminal = Progress().visible(), talkative = options.log_level == "info" || options.log_level == "debug";
  if (terminal || talkative) teller_ = std::thread([this, terminal] { tell(terminal); });
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
    const auto passed = std::chrono::duration_cast<seconds>(std::chrono::steady_clock::now() - begin).count();
    const std::string text = fmt::format("{}: {} s", what_, passed);
    terminal ? line.show(text, true) : message(text);
  }
}

}  // namespace tool
