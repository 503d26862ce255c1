// SPDX-License-Identifier: BSD-3-Clause
// The inner loop: one block of whole lines into arrays of rows, columns and values.
#include <cstdint>
#include <type_traits>

#include "core/io/mm_entries.hpp"
#include "core/io/mm_number.hpp"

namespace sextant::io::detail {

namespace {

[[noreturn, gnu::cold]] void fault_trailing(const LinePlace &place, const char *at, const char *entry) {
  fault_at(place, SXT_E_FILE_FORMAT,
           text("expected the end of the line after the ", entry, ", found ", quoted(token_at(at))));
}

// A value of type V; real files give complex matrices a zero imaginary part.
template <class V, bool Complex>
const char *read_value(const LinePlace &place, const char *at, const EntryRules &rules, V &value) {
  const char *start = at;
  if constexpr (is_complex<V>) {
    typename V::value_type real = 0, imag = 0;
    at = read_real(place, at, rules.check_finite, real);
    if (rules.integer) check_integer(place, start, rules.nonnegative, real);
    if constexpr (Complex) at = read_real(place, skip_blanks(at), rules.check_finite, imag);
    value = V(real, imag);
  } else {
    at = read_real(place, at, rules.check_finite, value);
    if (rules.integer) check_integer(place, start, rules.nonnegative, value);
  }
  return at;
}

// A diagonal entry that contradicts the header's symmetry.
template <class V>
bool is_odd(V value, sxt_symmetry symmetry) {
  if (symmetry == SXT_SKEW) return value != V(0);
  if constexpr (is_complex<V>) return symmetry == SXT_HERMITIAN && value.imag() != 0;
  return false;
}

// The start of the next line that holds an entry, or `end`.
inline const char *next_entry(const char *at, const char *end) {
  while (at < end) {
    at = skip_blanks(at);
    if (is_line_end(*at)) {
      ++at;
    } else if (*at == '%') {
      while (!is_line_end(*at)) ++at;
    } else {
      return at;
    }
  }
  return end;
}

// One line's row and column.
struct Place {
  std::int64_t row = 1, col = 1;
};

inline const char *read_place(const LinePlace &line, const char *at, const EntryRules &rules, Place &place) {
  at = read_index(line, at, "row", rules.rows, place.row);
  if (rules.indices == 2) at = read_index(line, skip_blanks(at), "column", rules.cols, place.col);
  return at;
}

// V void: a pattern.
template <class I, class V, bool Complex>
void parse_coordinate(const Block &block, const EntryRules &rules, Piece &piece) {
  constexpr bool kPattern = std::is_void_v<V>;
  I *row = piece.row.as<I>(), *col = piece.col.as<I>();
  std::int64_t n = 0;
  bool lower = false, upper = false, odd = false;
  for (const char *at = block.begin; (at = next_entry(at, block.end)) != block.end; ++n) {
    const LinePlace line{block, at};
    Place place;
    at = read_place(line, at, rules, place);
    if constexpr (!kPattern) {
      V value{};
      at = read_value<V, Complex>(line, skip_blanks(at), rules, value);
      piece.values.as<V>()[n] = value;
      odd |= place.row == place.col && is_odd(value, rules.symmetry);
    }
    at = skip_blanks(at);
    if (!is_line_end(*at)) [[unlikely]]
      fault_trailing(line, at, kPattern ? "indices of a pattern entry" : "entry");
    row[n] = static_cast<I>(place.row);
    col[n] = static_cast<I>(place.col);
    lower |= place.row > place.col;
    upper |= place.row < place.col;
  }
  piece.count = n;
  piece.lower |= lower, piece.upper |= upper, piece.odd_diagonal |= odd;
}

template <class V, bool Complex>
void parse_array(const Block &block, const EntryRules &rules, Piece &piece) {
  V *values = piece.values.as<V>();
  std::int64_t n = 0;
  for (const char *at = block.begin; (at = next_entry(at, block.end)) != block.end; ++n) {
    const LinePlace line{block, at};
    at = skip_blanks(read_value<V, Complex>(line, at, rules, values[n]));
    if (!is_line_end(*at)) [[unlikely]]
      fault_trailing(line, at, "value");
  }
  piece.count = n;
}

template <class V, bool Complex>
ParseBlock choose_for_value(bool coordinate, sxt_index_type index_type) {
  if (!coordinate) return parse_array<V, Complex>;
  return index_type == SXT_I32 ? parse_coordinate<std::int32_t, V, Complex>
                               : parse_coordinate<std::int64_t, V, Complex>;
}

}  // namespace

ParseBlock choose_parser(const Header &header, sxt_index_type index_type, sxt_value_type value_type) {
  if (header.field == Field::pattern)
    return index_type == SXT_I32 ? parse_coordinate<std::int32_t, void, false>
                                 : parse_coordinate<std::int64_t, void, false>;
  return with_value_type(value_type, [&](auto tag) -> ParseBlock {
    using V = typename decltype(tag)::type;
    if constexpr (is_complex<V>)
      if (header.field == Field::complex) return choose_for_value<V, true>(header.coordinate, index_type);
    return choose_for_value<V, false>(header.coordinate, index_type);
  });
}

}  // namespace sextant::io::detail
