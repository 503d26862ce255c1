// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/toml_lines.hpp"

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

namespace sextant {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_bare(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-'; }

// One line, from left to right. Each function is false, or has nothing, where the text is of another kind.
class Line {
 public:
  explicit Line(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool key_and_value(toml::table &table) { return pair(table, true) && done(); }

 private:
  bool take(char c) {
    while (at_ != end_ && *at_ == ' ') ++at_;
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool done() {
    while (at_ != end_ && *at_ == ' ') ++at_;
    return at_ == end_;
  }

  // What stands between quotes: ASCII without escapes.
  std::optional<std::string_view> quoted() {
    const char *const begin = at_;
    for (; at_ != end_ && *at_ != '"'; ++at_)
      if (*at_ < ' ' || *at_ > '~' || *at_ == '\\') return std::nullopt;
    if (at_ == end_) return std::nullopt;
    return std::string_view(begin, static_cast<std::size_t>(at_++ - begin));
  }
  std::optional<std::string_view> key() {
    if (take('"')) return quoted();
    const char *const begin = at_;
    while (at_ != end_ && is_bare(*at_)) ++at_;
    if (at_ == begin) return std::nullopt;
    return std::string_view(begin, static_cast<std::size_t>(at_ - begin));
  }

  // put(std::int64_t) or put(double), where the text is inf or a decimal number as TOML has it.
  template <class Put>
  bool number(Put &&put) {
    while (at_ != end_ && *at_ == ' ') ++at_;
    if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with("inf")) {
      at_ += 3;
      put(std::numeric_limits<double>::infinity());
      return true;
    }
    const char *const begin = at_ != end_ && *at_ == '+' ? at_ + 1 : at_;
    const char *at = begin != end_ && begin == at_ && *begin == '-' ? begin + 1 : begin;
    const auto digits = [&] {
      const char *const first = at;
      while (at != end_ && is_digit(*at)) ++at;
      return at - first;
    };
    const char *const whole = at;
    const auto count = digits();
    if (count == 0 || (count > 1 && *whole == '0')) return false;
    bool integer = true;
    if (at != end_ && *at == '.') {
      ++at, integer = false;
      if (digits() == 0) return false;
    }
    if (at != end_ && (*at == 'e' || *at == 'E')) {
      ++at, integer = false;
      if (at != end_ && (*at == '+' || *at == '-')) ++at;
      if (digits() == 0) return false;
    }
    at_ = at;
    const auto converted = [&](auto value) {
      const auto [stop, problem] = std::from_chars(begin, at, value);
      if (problem != std::errc() || stop != at) return false;
      put(value);
      return true;
    };
    return integer ? converted(std::int64_t{0}) : converted(0.0);
  }

  bool array(toml::array &array) {
    if (take(']')) return true;
    do {
      if (take('"')) {
        const auto text = quoted();
        if (!text) return false;
        array.push_back(std::string(*text));
      } else if (!number([&](auto value) { array.push_back(value); })) {
        return false;
      }
    } while (take(','));
    return take(']');
  }

  bool pair(toml::table &table, bool may_nest) {
    const auto name = key();
    if (!name || !take('=')) return false;
    bool is_new = false;
    const auto put = [&](auto &&value) { is_new = table.insert(*name, std::forward<decltype(value)>(value)).second; };
    if (take('"')) {
      const auto text = quoted();
      if (!text) return false;
      put(std::string(*text));
    } else if (take('[')) {
      toml::array values;
      if (!array(values)) return false;
      put(std::move(values));
    } else if (may_nest && take('{')) {
      toml::table inner;
      do {
        if (!pair(inner, false)) return false;
      } while (take(','));
      if (!take('}')) return false;
      put(std::move(inner));
    } else if (!number(put)) {
      return false;
    }
    return is_new;
  }

  const char *at_, *end_;
};

std::string_view next_line(std::string_view &rest) {
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  return line;
}

}  // namespace

std::optional<toml::table> toml_of_lines(std::string_view text, std::string_view list) {
  const std::string header = "[[" + std::string(list) + "]]";
  const std::size_t first = text.find("\n" + header + "\n");
  if (first == text.npos) return std::nullopt;
  std::optional<toml::table> file;
  try {
    file = toml::parse(text.substr(0, first + 1));
  } catch (const toml::parse_error &) {
    return std::nullopt;
  }
  toml::array tables;
  toml::table *table = nullptr;
  for (std::string_view rest = text.substr(first + 1); !rest.empty();) {
    const std::string_view line = next_line(rest);
    if (line.empty() || line.front() == '#') continue;
    if (line == header) {
      tables.push_back(toml::table());
      table = tables.back().as_table();
    } else if (!Line(line).key_and_value(*table)) {
      return std::nullopt;
    }
  }
  if (!file->insert(list, std::move(tables)).second) return std::nullopt;
  return file;
}

}  // namespace sextant
