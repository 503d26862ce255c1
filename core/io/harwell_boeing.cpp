// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/harwell_boeing.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace sextant::io::detail {
namespace {

char upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view field_of(std::string_view line, std::size_t begin, std::size_t width) {
  return begin < line.size() ? trimmed(line.substr(begin, width)) : std::string_view();
}

bool read_integer(std::string_view token, std::int64_t &value) {
  if (token.starts_with('+')) token.remove_prefix(1);
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  return error == std::errc() && end == token.data() + token.size() && !token.empty();
}

// As Fortran writes it: an exponent may begin with D, or with its sign alone. Beyond the range: 0 or infinity.
bool read_number(std::string_view token, double &value) {
  char text[80];
  std::size_t n = 0;
  if (token.starts_with('+')) token.remove_prefix(1);
  if (token.empty() || token.size() > 60) return false;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const char c = upper(token[i]);
    const bool sign = c == '+' || c == '-', exponent = c == 'D' || c == 'E' || c == 'Q';
    const bool bare =
        sign && i > 0 && upper(token[i - 1]) != 'E' && upper(token[i - 1]) != 'D' && upper(token[i - 1]) != 'Q';
    if (bare) text[n++] = 'e';
    if (!(c == '+' && i > 0)) text[n++] = exponent ? 'e' : c;
  }
  const auto [end, error] = std::from_chars(text, text + n, value);
  if (error == std::errc::result_out_of_range) value = std::find(text, text + n, '-') == text ? -HUGE_VAL : HUGE_VAL;
  return (error == std::errc() || error == std::errc::result_out_of_range) && end == text + n;
}

}  // namespace

bool is_boeing_name(const std::string &path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const std::size_t dot = name.find_last_of('.');
  if (dot == std::string::npos) return false;
  const std::string_view end = std::string_view(name).substr(dot + 1);
  if (end == "rb" || end == "hb") return true;
  const auto one_of = [](char c, std::string_view letters) { return letters.find(c) != std::string_view::npos; };
  return end.size() == 3 && one_of(end[0], "rcpi") && one_of(end[1], "usrzh") && one_of(end[2], "ae");
}

// The numbers of one section. Where blanks part as many as the format says they are taken as they stand, else by width.
class BoeingReader::Numbers {
 public:
  Numbers(BoeingReader &reader, const Format &format, std::int64_t count, const char *what)
      : reader_(reader), format_(format), left_(count), what_(what) {}
  std::string_view next() {
    if (at_ == on_line_) refill();
    return words_.empty() ? by_width(at_++) : words_[static_cast<std::size_t>(at_++)];
  }
  [[noreturn]] void bad(std::string_view token) const { reader_.fault(text(quoted(token), " is no ", what_)); }

 private:
  void refill() {
    reader_.read_line(what_);
    on_line_ = std::min(format_.count, left_);
    left_ -= on_line_;
    at_ = 0;
    words_ = split(reader_.lines_.line());
    if (static_cast<std::int64_t>(words_.size()) != on_line_) words_.clear();
  }
  std::string_view by_width(std::int64_t i) const {
    const auto width = static_cast<std::size_t>(format_.width);
    const std::string_view found = field_of(reader_.lines_.line(), static_cast<std::size_t>(i) * width, width);
    if (found.empty()) reader_.fault(text("the line has ", i, " of ", on_line_, " numbers: a ", what_, " is missing"));
    return found;
  }

  BoeingReader &reader_;
  Format format_;
  std::int64_t left_, on_line_ = 0, at_ = 0;
  const char *what_;
  std::vector<std::string_view> words_;
};

void BoeingReader::fault(std::string message, sxt_status status) const {
  throw Fault{status, lines_.offset(), std::move(message)};
}

void BoeingReader::read_line(const char *what) {
  if (!lines_.next()) fault(text("the file ends where a ", what, " should follow"));
}

BoeingReader::BoeingReader(LineReader &lines, std::uint64_t text_limit) : lines_(lines), text_limit_(text_limit) {
  read_line("title");
  read_line("line with the numbers of lines");
  const std::vector<std::string_view> counts = split(lines_.line());
  std::int64_t value = 0;
  if (counts.size() < 4 ||
      !std::all_of(counts.begin(), counts.end(), [&](auto each) { return read_integer(each, value); }))
    fault("the second line must have the numbers of lines of the sections: four or five integers");
  right_hand_sides_ = counts.size() > 4 && read_integer(counts[4], value) && value > 0;
  read_line("line with type and sizes");
  read_sizes();
  read_line("line with formats");
  const std::string_view line = lines_.line();
  pointers_ = format(field_of(line, 0, 16), "pointers");
  indices_ = format(field_of(line, 16, 16), "row numbers");
  if (header_.field != Field::pattern) values_ = format(field_of(line, 32, 20), "values");
  if (right_hand_sides_) read_line("line about right-hand sides");
}

void BoeingReader::read_sizes() {
  sizes_offset_ = lines_.offset();
  const std::string_view line = lines_.line();
  read_type(field_of(line, 0, 3));
  const std::vector<std::string_view> words = split(line.substr(std::min<std::size_t>(3, line.size())));
  std::int64_t sizes[3] = {-1, -1, -1};
  for (std::size_t i = 0; i < 3; ++i)
    if (i >= words.size() || !read_integer(words[i], sizes[i]) || sizes[i] < 0)
      fault("behind the type the third line must have the numbers of rows, columns and entries");
  header_.rows = sizes[0], header_.cols = sizes[1], header_.stored = sizes[2];
  if (header_.symmetry != SXT_GENERAL && header_.rows != header_.cols)
    fault(text("a ", header_.symmetry_name, " matrix is square, not ", header_.rows, " x ", header_.cols));
  constexpr std::int64_t harmless = 1 << 20;
  if (header_.stored > harmless && static_cast<std::uint64_t>(header_.stored) > text_limit_)
    fault(text("the third line promises ", header_.stored, " entries, but the file has no room for them"));
}

void BoeingReader::read_type(std::string_view type) {
  if (type.size() != 3) fault("the third line must begin with the three letters of a type, such as RUA");
  const char value = upper(type[0]), symmetry = upper(type[1]), form = upper(type[2]);
  if (form == 'E' || value == 'Q')
    fault(text("type ", type,
               " is not read: unassembled matrices (third letter E) and auxiliary values (first letter Q)"),
          SXT_E_NOT_SUPPORTED);
  const bool known = (value == 'R' || value == 'I' || value == 'C' || value == 'P') && form == 'A' &&
                     std::string_view("USHZR").find(symmetry) != std::string_view::npos;
  if (!known) fault(text(quoted(type), " is no type of a matrix, such as RUA or PSA"));
  header_.field = value == 'R'   ? Field::real
                  : value == 'I' ? Field::integer
                  : value == 'C' ? Field::complex
                                 : Field::pattern;
  header_.field_name = value == 'R' ? "real" : value == 'I' ? "integer" : value == 'C' ? "complex" : "pattern";
  header_.symmetry = symmetry == 'S'   ? SXT_SYMMETRIC
                     : symmetry == 'H' ? SXT_HERMITIAN
                     : symmetry == 'Z' ? SXT_SKEW
                                       : SXT_GENERAL;
  header_.symmetry_name = symmetry == 'S'   ? "symmetric"
                          : symmetry == 'H' ? "hermitian"
                          : symmetry == 'Z' ? "skew-symmetric"
                                            : "general";
}

// "(16I5)", "(1P,4D20.12)": the letter with the count before it and the width behind it.
BoeingReader::Format BoeingReader::format(std::string_view given, const char *what) const {
  std::string plain;
  for (const char c : given)
    if (!is_blank(c) && c != '(' && c != ')') plain += upper(c);
  if (const std::size_t scale = plain.find('P'); scale != std::string::npos) plain.erase(0, scale + 1);
  if (plain.starts_with(',')) plain.erase(0, 1);
  const std::size_t letter = plain.find_first_of("IEDFG");
  Format found;
  const bool counted =
      letter == 0 || (letter != std::string::npos && read_integer(plain.substr(0, letter), found.count));
  const std::size_t digits = counted ? plain.find_first_not_of("0123456789", letter + 1) : 0;
  const bool wide = counted && read_integer(plain.substr(letter + 1, digits - letter - 1), found.width);
  if (!wide || found.count < 1 || found.width < 1 || found.count > 1000 || found.width > 1000)
    fault(text(quoted(given), " is no format of ", what, " such as (16I5) or (4E20.12)"));
  return found;
}

// Pointers, then the row of every entry.
template <class I>
void BoeingReader::read_places(ParsedEntries &out) {
  I *row = out.entries.row.as<I>(), *col = out.entries.col.as<I>();
  Numbers pointers(*this, pointers_, header_.cols + 1, "pointer");
  std::int64_t begin = 1;
  for (std::int64_t j = 0; j <= header_.cols; ++j) {
    const std::string_view token = pointers.next();
    std::int64_t end = 0;
    if (!read_integer(token, end)) pointers.bad(token);
    const bool ascends = j == 0 ? end == 1 : end >= begin && end - 1 <= header_.stored;
    if (!ascends || (j == header_.cols && end - 1 != header_.stored))
      fault(text("pointer ", j + 1, " is ", end, ": pointers ascend from 1 to ", header_.stored + 1));
    for (std::int64_t k = begin; j > 0 && k < end; ++k) col[k - 1] = static_cast<I>(j);
    begin = end;
  }
  Numbers rows(*this, indices_, header_.stored, "row number");
  for (std::int64_t k = 0; k < header_.stored; ++k) {
    const std::string_view token = rows.next();
    std::int64_t i = 0;
    if (!read_integer(token, i)) rows.bad(token);
    if (i < 1 || i > header_.rows) fault(text("row ", i, " of ", header_.rows), SXT_E_INDEX);
    row[k] = static_cast<I>(i);
    out.lower |= row[k] > col[k], out.upper |= row[k] < col[k];
    if (header_.symmetry == SXT_SKEW && row[k] == col[k]) out.odd_diagonal = true;
  }
}

template <class V>
void BoeingReader::read_values(ParsedEntries &out, bool check_finite) {
  using Real = decltype(std::abs(V()));
  V *to = out.entries.values.as<V>();
  const bool complex = header_.field == Field::complex;
  Numbers numbers(*this, values_, header_.stored * (complex ? 2 : 1), "value");
  const auto next = [&] {
    const std::string_view token = numbers.next();
    double value = 0;
    if (!read_number(token, value)) numbers.bad(token);
    const Real rounded = static_cast<Real>(value);
    if (check_finite && !std::isfinite(rounded))
      fault(text(quoted(token), " is not finite in the matrix's type"), SXT_E_NOT_FINITE);
    return rounded;
  };
  for (std::int64_t k = 0; k < header_.stored; ++k) {
    const Real re = next(), im = complex ? next() : Real(0);
    if constexpr (std::is_same_v<V, Real>)
      to[k] = re;
    else
      to[k] = V(re, im);
  }
}

ParsedEntries BoeingReader::entries(sxt_value_type value_type, bool check_finite, const Allocator &allocator) {
  ParsedEntries out;
  auto &entries = out.entries;
  entries.rows = header_.rows, entries.cols = header_.cols, entries.nnz = header_.stored;
  entries.value_type = value_type;
  entries.index_type = sextant::detail::smallest_index(std::max(header_.rows, header_.cols));
  const auto bytes = [&](std::int64_t each) { return static_cast<std::uint64_t>(each * header_.stored); };
  entries.row = Buffer(bytes(index_bytes(entries.index_type)), allocator);
  entries.col = Buffer(bytes(index_bytes(entries.index_type)), allocator);
  with_index_type(entries.index_type, [&](auto tag) { read_places<typename decltype(tag)::type>(out); });
  if (header_.field == Field::pattern) return out;
  entries.values = Buffer(bytes(value_bytes(value_type)), allocator);
  with_value_type(value_type, [&](auto tag) { read_values<typename decltype(tag)::type>(out, check_finite); });
  return out;
}

}  // namespace sextant::io::detail
