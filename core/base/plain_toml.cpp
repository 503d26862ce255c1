// SPDX-License-Identifier: BSD-3-Clause
// What the library writes as TOML, read faster than by a parser of all of TOML: lines of one assignment, in ASCII, with
// strings without escapes. Everything else is refused, and left to toml++, which also knows what is wrong and where.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "core/base/toml.hpp"

namespace sextant {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_bare(char c) { return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-'; }

class PlainReader {
 public:
  explicit PlainReader(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  std::optional<toml::table> read() {
    while (at_ != end_)
      if (!line()) return std::nullopt;
    return std::move(root_);
  }

 private:
  bool next(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  void skip_blanks() {
    while (at_ != end_ && *at_ == ' ') ++at_;
  }
  bool separator(char c) {
    skip_blanks();
    const bool found = next(c);
    skip_blanks();
    return found;
  }

  bool line() {
    skip_blanks();
    if (at_ != end_ && *at_ != '#' && *at_ != '\n' && !(*at_ == '[' ? header() : assignment(*table_))) return false;
    skip_blanks();
    if (at_ != end_ && *at_ == '#')
      while (at_ != end_ && *at_ != '\n')
        if (!is_text(*at_++)) return false;
    return at_ == end_ || next('\n');
  }

  static bool is_text(char c) { return c >= ' ' && c <= '~'; }

  // [name] or [[name]].
  bool header() {
    ++at_;
    const bool many = next('[');
    std::string_view name;
    if (!bare_key(name) || !next(']') || (many && !next(']'))) return false;
    if (!many) {
      const auto [place, added] = root_.emplace<toml::table>(name);
      table_ = place->second.as_table();
      return added;
    }
    toml::node *known = root_.get(name);
    if (known && name != list_name_) return false;  // no list of tables, or another one came between
    if (!known) known = &root_.emplace<toml::array>(name).first->second;
    list_name_ = name;
    toml::array &list = *known->as_array();
    list.push_back(toml::table());
    table_ = list.back().as_table();
    return true;
  }

  bool bare_key(std::string_view &key) {
    const char *const begin = at_;
    while (at_ != end_ && is_bare(*at_)) ++at_;
    key = {begin, static_cast<std::size_t>(at_ - begin)};
    return !key.empty();
  }
  bool quoted(std::string_view &text) {
    if (!next('"')) return false;
    const char *const begin = at_;
    while (at_ != end_ && is_text(*at_) && *at_ != '"' && *at_ != '\\') ++at_;
    text = {begin, static_cast<std::size_t>(at_ - begin)};
    return next('"');
  }

  // key = value, into a table that has no such key.
  bool assignment(toml::table &table) {
    std::string_view key;
    if (!(at_ != end_ && *at_ == '"' ? quoted(key) : bare_key(key)) || !separator('=')) return false;
    return !table.contains(key) &&
           value([&](auto &&value) { table.emplace<plain<decltype(value)>>(key, std::move(value)); });
  }

  template <class T>
  using plain = std::remove_cvref_t<T>;

  template <class Take>
  bool value(Take &&take) {
    if (at_ == end_) return false;
    if (*at_ == '[') {
      toml::array list;
      if (!elements(list)) return false;
      take(std::move(list));
      return true;
    }
    if (*at_ == '{') {
      toml::table table;
      if (!members(table)) return false;
      take(std::move(table));
      return true;
    }
    return scalar(take);
  }

  template <class Take>
  bool scalar(Take &&take) {
    if (*at_ != '"') return number(take);
    std::string_view text;
    if (!quoted(text) || (text.empty() && at_ != end_ && *at_ == '"')) return false;  // three quotes: several lines
    take(std::string(text));
    return true;
  }

  // Numbers and strings alone.
  bool elements(toml::array &list) {
    ++at_;
    if (separator(']')) return true;
    do {
      if (at_ == end_ || !scalar([&](auto &&value) { list.emplace_back<plain<decltype(value)>>(std::move(value)); }))
        return false;
    } while (separator(','));
    return next(']');
  }
  bool members(toml::table &table) {
    ++at_;
    if (separator('}')) return true;
    do {
      if (!assignment(table)) return false;
    } while (separator(','));
    return next('}');
  }

  // An integer has digits alone behind its sign; a number with a point has a digit on both sides of it.
  template <class Take>
  bool number(Take &&take) {
    if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with("inf")) {
      at_ += 3;
      take(std::numeric_limits<double>::infinity());
      return true;
    }
    const char *const begin = at_, *digit = begin + (*begin == '-');
    while (at_ != end_ && (is_digit(*at_) || *at_ == '-' || *at_ == '+' || *at_ == '.' || *at_ == 'e')) ++at_;
    if (digit >= at_ || !is_digit(*digit) || (*digit == '0' && digit + 1 != at_ && is_digit(digit[1]))) return false;
    const char *const point = std::find(digit, at_, '.');
    if (point != at_ && (point + 1 == at_ || !is_digit(point[1]))) return false;
    const bool whole = std::all_of(digit, at_, is_digit);
    if (whole) return converted<std::int64_t>(begin, take);
    return converted<double>(begin, take);
  }
  template <class T, class Take>
  bool converted(const char *begin, Take &&take) const {
    T number = 0;
    const auto [stop, problem] = std::from_chars(begin, at_, number);
    if (problem != std::errc() || stop != at_) return false;
    take(T(number));
    return true;
  }

  const char *at_, *end_;
  toml::table root_;
  toml::table *table_ = &root_;
  std::string_view list_name_;
};

}  // namespace

std::optional<toml::table> parse_plain_toml(std::string_view content) { return PlainReader(content).read(); }

}  // namespace sextant
