// SPDX-License-Identifier: BSD-3-Clause
#include "report/events.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "report/error.hpp"

namespace tool {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

Events::Events(const std::string &path) {
  if (path.empty()) return;
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away does not end the work
  file_.reset(std::fopen(path.c_str(), "we"));
  if (!file_) fail(exit_bad_input, "--events {}: {}", path, std::strerror(errno));
}

bool Events::due(double rate) {
  if (!file_ || now() < next_) return false;
  next_ = now() + 1 / rate;
  return true;
}

void Events::tell(const Json &event) {
  if (!file_) return;
  const std::string line = event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fwrite(line.data(), 1, line.size(), file_.get());
  std::fflush(file_.get());  // progress that cannot be written is no reason to stop the work
}

void add_events(CLI::App &app, std::string &path) {
  app.add_option("--events", path, "Write progress into this file or pipe, a JSON object a line")->type_name("FILE");
}

}  // namespace tool
