// SPDX-License-Identifier: BSD-3-Clause
// Printing with checks: a closed or full stdout ends in an error, not in silence.
#include "report/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "report/error.hpp"
#include "report/quiet.hpp"

namespace tool {
namespace {

std::mutex stderr_mutex;
bool line_shown = false;                 // a progress line stands on the terminal
std::atomic<std::uint64_t> messages{0};  // bytes of them
int stdout_error = 0;                    // errno of the first failed write
bool silenced = false;                   // --quiet

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_dumb_terminal() {
  const char *terminal = std::getenv("TERM");
  return terminal != nullptr && std::strcmp(terminal, "dumb") == 0;
}

bool colour_wanted() {
  static const bool wanted = [] {
    const char *no_color = std::getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !is_dumb_terminal() && (no_color == nullptr || *no_color == '\0');
  }();
  return wanted;
}

// Removes a progress line that stands on the terminal. The mutex is held.
void clear_line() {
  if (!line_shown) return;
  std::fputs("\r\033[K", stderr);
  line_shown = false;
}

}  // namespace

void guard_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // Opened for the opposite direction: reading stdin or writing stdout and stderr still fails, as on a closed
    // descriptor.
    const int opened = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    if (opened > 2) close(opened);
  }
}

void finish_stdout() {
  if (std::fflush(stdout) != 0 && stdout_error == 0) stdout_error = errno;
  // When other code prints (the parser's help), a failure leaves only the stream's error flag.
  if (std::ferror(stdout) != 0 && stdout_error == 0) stdout_error = EIO;
  if (stdout_error == 0) return;
  const int error = std::exchange(stdout_error, 0);
  fail(exit_bad_input, "standard output could not be written: {}", std::strerror(error));
}

void print_text(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && stdout_error == 0) stdout_error = errno;
}

void print_json(const Json &json) {
  print_text(json.dump(2, ' ', false, Json::error_handler_t::replace));
  print_text("\n");
}

// Names come from files and other programs: none of their control characters reaches the terminal.
void message(std::string_view text) {
  const std::lock_guard lock(stderr_mutex);
  clear_line();
  std::string line = fmt::format("sextant: {}\n", text);
  const auto controls = [](unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; };
  std::replace_if(line.begin(), line.end(), controls, '?');
  messages += std::fwrite(line.data(), 1, line.size(), stderr);
}

std::uint64_t message_bytes() { return messages; }

void silence_progress() { silenced = true; }
bool progress_is_silenced() { return silenced; }

Progress::Progress() : visible_(isatty(STDERR_FILENO) && !is_dumb_terminal() && !silenced) {}

Progress::~Progress() {
  const std::lock_guard lock(stderr_mutex);
  clear_line();
}

void Progress::show(std::string_view text, bool now) {
  if (!visible_) return;
  const double time = seconds_now();
  if (!now && time - last_ < 0.1) return;
  last_ = time;
  const std::lock_guard lock(stderr_mutex);
  const std::string line = fmt::format("\r\033[K{}", text);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  line_shown = true;
}

std::string styled(Style style, std::string_view text) {
  if (style == Style::plain || !colour_wanted()) return std::string(text);
  const char *code = style == Style::bold ? "1" : style == Style::good ? "32" : style == Style::bad ? "31" : "2";
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

}  // namespace tool
