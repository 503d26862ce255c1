// SPDX-License-Identifier: BSD-3-Clause
// JSON (RFC 8259) written member by member into one string. Ending a writer frees that string and asks for nothing, so
// that a caller who has no memory left gets a status.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace sextant {

class JsonWriter {
 public:
  JsonWriter &begin(char bracket) {  // '{' or '['
    next();
    text_ += bracket;
    ++depth_;
    first_ = true;
    return *this;
  }
  JsonWriter &end(char bracket) {
    --depth_;
    if (!first_) line();
    text_ += bracket;
    first_ = false;
    return *this;
  }
  JsonWriter &key(std::string_view name) {
    next();
    quote(name);
    text_ += ": ";
    named_ = true;
    return *this;
  }
  JsonWriter &value(std::string_view words) { return next(), quote(words), *this; }
  JsonWriter &value(const char *words) { return value(std::string_view(words)); }
  JsonWriter &value(bool truth) { return plain(truth ? "true" : "false"); }
  JsonWriter &null() { return plain("null"); }
  // JSON has no infinity: an unknown number is null.
  JsonWriter &value(double number) { return std::isfinite(number) ? digits(number) : null(); }
  template <std::integral T>
  JsonWriter &value(T number) {
    return digits(number);
  }
  template <class T>
  JsonWriter &member(std::string_view name, const T &content) {
    return key(name).value(content);
  }
  JsonWriter &number_or_null(std::string_view name, bool known, double number) {
    return known ? member(name, number) : key(name).null();
  }
  // The four numbers of a launch configuration, in one line.
  JsonWriter &launch(std::string_view name, const std::int64_t *four) {
    key(name).next();
    for (int i = 0; i < 4; ++i) text_ += (i ? ", " : "[") + std::to_string(four[i]);
    text_ += ']';
    return *this;
  }
  const std::string &text() const noexcept { return text_; }

 private:
  void line() {
    text_ += '\n';
    text_.append(static_cast<std::size_t>(2 * depth_), ' ');
  }
  void next() {
    if (named_) {
      named_ = false;
      return;
    }
    if (depth_ > 0) {
      if (!first_) text_ += ',';
      line();
    }
    first_ = false;
  }
  JsonWriter &plain(std::string_view word) {
    next();
    text_ += word;
    return *this;
  }
  template <class T>
  JsonWriter &digits(T number) {
    std::array<char, 32> room;  // the shortest digits that read back as the same number
    const auto done = std::to_chars(room.data(), room.data() + room.size(), number);
    return plain({room.data(), done.ptr});
  }

  // Length of the UTF-8 sequence that begins here; 0: none does (RFC 3629).
  static std::size_t sequence(std::string_view s) {
    const auto byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
    const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
    const bool in_range = (lead != 0xe0 || byte(1) >= 0xa0) && (lead != 0xed || byte(1) < 0xa0) &&
                          (lead != 0xf0 || byte(1) >= 0x90) && (lead != 0xf4 || byte(1) < 0x90);
    if (lead >= 0xe0 && lead <= 0xef) return in_range && follows(1) && follows(2) ? 3 : 0;
    if (lead >= 0xf0 && lead <= 0xf4) return in_range && follows(1) && follows(2) && follows(3) ? 4 : 0;
    return 0;
  }
  void quote(std::string_view words) {
    static constexpr char hex[] = "0123456789abcdef";
    text_ += '"';
    while (!words.empty()) {
      const std::size_t length = sequence(words);
      const auto c = static_cast<unsigned char>(words.front());
      if (length == 0)
        text_ += "\xef\xbf\xbd";  // what is no UTF-8 becomes U+FFFD
      else if (c == '"' || c == '\\')
        (text_ += '\\') += static_cast<char>(c);
      else if (c == '\n')
        text_ += "\\n";
      else if (c < 0x20)
        ((text_ += "\\u00") += hex[c >> 4]) += hex[c & 15];
      else
        text_ += words.substr(0, length);
      words.remove_prefix(length ? length : 1);
    }
    text_ += '"';
  }

  std::string text_;
  int depth_ = 0;
  bool first_ = true, named_ = false;
};

}  // namespace sextant
