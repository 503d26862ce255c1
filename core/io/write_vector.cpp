// SPDX-License-Identifier: BSD-3-Clause
// Writes a vector as a Matrix Market array.
#include <charconv>
#include <cstdint>
#include <system_error>
#include <vector>

#include "core/io/matrix_market.hpp"
#include "files/output_file.hpp"

namespace sextant::io {

namespace {

// Text gathered into large writes.
class TextBuffer {
 public:
  explicit TextBuffer(files::OutputFile &output) : output_(output), text_(std::size_t{1} << 16) {}
  template <class T>
  void number(T value) {
    // Without a precision, to_chars writes the fewest digits that read back as the same value.
    const auto [end, error] = std::to_chars(room(kLongestNumber), text_.data() + text_.size(), value);
    require(error == std::errc(), SXT_E_INTERNAL, "a number did not fit its text buffer");
    used_ = static_cast<std::size_t>(end - text_.data());
  }
  void words(const std::string &line) {
    std::copy(line.begin(), line.end(), room(line.size()));
    used_ += line.size();
  }
  void flush() {
    output_.write({text_.data(), used_});
    used_ = 0;
  }

 private:
  static constexpr std::size_t kLongestNumber = 64;
  char *room(std::size_t bytes) {
    if (text_.size() - used_ < bytes) flush();
    return text_.data() + used_;
  }
  files::OutputFile &output_;
  std::vector<char> text_;
  std::size_t used_ = 0;
};

template <class V>
void write_text(files::OutputFile &output, std::int64_t n, const V *values) {
  TextBuffer out(output);
  out.words(text("%%MatrixMarket matrix array ", is_complex<V> ? "complex" : "real", " general\n", n, " 1\n"));
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (is_complex<V>) {
      out.number(values[i].real());
      out.words(" ");
      out.number(values[i].imag());
    } else {
      out.number(values[i]);
    }
    out.words("\n");
  }
  out.flush();
}

}  // namespace

void write_vector(const std::string &path, std::int64_t n, sxt_value_type type, const void *values) {
  require(n >= 0, SXT_E_ARGUMENT, path, ": a vector of length ", n, " cannot be written");
  require(values != nullptr || n == 0, SXT_E_ARGUMENT, path, ": the array of ", n, " values is NULL");
  try {
    files::OutputFile output(path);
    with_value_type(
        type, [&](auto tag) { write_text(output, n, static_cast<const typename decltype(tag)::type *>(values)); });
    output.commit();
  } catch (const files::WriteError &problem) {
    fail(SXT_E_FILE_WRITE, problem.what());
  }
}

}  // namespace sextant::io
