// SPDX-License-Identifier: BSD-3-Clause
// Output: data on stdout, messages and progress on stderr, colour only on terminals.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace tool {

using Json = nlohmann::ordered_json;

// Gives descriptors 0 to 2 something harmless when the caller closed them, so that no file opened later lands there.
void guard_standard_streams();
// Flushes stdout and throws a ToolError when some output was not written (disk full, stream closed).
void finish_stdout();

void print_text(std::string_view text);
template <typename... Args>
void print(fmt::format_string<Args...> format, Args &&...args) {
  print_text(fmt::format(format, std::forward<Args>(args)...));
}
// Pretty-printed with a final newline; bytes that are not UTF-8 are replaced.
void print_json(const Json &json);

// A line on stderr; "sextant: " goes in front.
void message(std::string_view text);
// That message() has written so far.
std::uint64_t message_bytes();

// One line on stderr that is overwritten, shown only when stderr is a terminal. The destructor removes it.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  // Repaints at most ten times a second, or at once with `now`.
  void show(std::string_view text, bool now = false);
  bool visible() const { return visible_; }

 private:
  bool visible_;
  double last_ = -1;
};

enum class Style { plain, bold, good, bad, faint };
// The text with terminal colours, or unchanged when stdout is no terminal, TERM is dumb or NO_COLOR is set.
std::string styled(Style style, std::string_view text);

}  // namespace tool
