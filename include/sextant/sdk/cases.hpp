// SPDX-License-Identifier: BSD-3-Clause
// Helpers for kinds that make conformance cases: a portable random generator, arrays whose type is known at run time,
// sparse patterns of the usual shapes. Written to be read; not fast.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "sextant/plugin/kinds/alike.h"
#include "sextant/plugin/kinds/storage.h"
#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin::cases {

using Wide = std::complex<double>;

// SplitMix64 (Steele, Lea, Flood 2014): equal numbers on every platform for equal seeds.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream)
      : state_(seed ^ (stream * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u)) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(n)); }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double symmetric() { return 2 * uniform() - 1; }  // in [-1, 1)

 private:
  std::uint64_t state_;
};

inline bool complex_type(sxt_value_type type) { return type == SXT_C64 || type == SXT_C128; }
inline sxt_value_type real_type(sxt_value_type type) {
  return type == SXT_C64 ? SXT_F32 : type == SXT_C128 ? SXT_F64 : type;
}
// Distance from 1 to the next number.
inline double epsilon(sxt_value_type type) {
  return real_type(type) == SXT_F32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
}
// Least positive normal number: results below it may lose all digits.
inline double tiny(sxt_value_type type) {
  return real_type(type) == SXT_F32 ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
}

// Values of a type known at run time, between guards that kernels must not touch.
class Array {
 public:
  static constexpr std::int64_t guard = 8;
  Array() = default;
  Array(sxt_value_type type, std::int64_t size)
      : type_(type), size_(size), data_((size + 2 * guard) * value_bytes(type) / 4) {
    for (std::int64_t i = -guard; i < size + guard; ++i) set(i, guard_value());
  }
  Array(sxt_value_type type, std::int64_t size, Random &random) : Array(type, size) {
    for (std::int64_t i = 0; i < size; ++i) set(i, random_value(random));
  }
  std::int64_t size() const { return size_; }
  sxt_value_type type() const { return type_; }
  void *data() { return reinterpret_cast<char *>(data_.data()) + guard_bytes(); }
  const void *data() const { return reinterpret_cast<const char *>(data_.data()) + guard_bytes(); }
  std::uint64_t bytes() const { return block_bytes() - guard_bytes(); }  // from data() on, the guard behind included
  // All of it with both guards, as a case is moved.
  void *block() { return data_.data(); }
  std::uint64_t block_bytes() const { return data_.size() * sizeof(float); }

  Wide at(std::int64_t i) const { return load(data(), type_, i); }
  void set(std::int64_t i, Wide value) {
    with_value_type(type_, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T *data = static_cast<T *>(this->data());
      if constexpr (is_complex<T>)
        data[i] = T(value);
      else
        data[i] = static_cast<T>(value.real());
      return SXT_OK;
    });
  }
  // Element i of an array in memory.
  static Wide load(const void *memory, sxt_value_type type, std::int64_t i) {
    Wide value;
    with_value_type(type, [&](auto tag) {
      return value = Wide(static_cast<const typename decltype(tag)::type *>(memory)[i]), SXT_OK;
    });
    return value;
  }
  Wide random_value(Random &random) const {
    const double re = random.symmetric();
    return complex_type(type_) ? Wide(re, random.symmetric()) : Wide(re);
  }
  static Wide guard_value() { return {-77.25, 0}; }
  bool guard_intact() const {  // an array that was never made has none
    for (std::int64_t i = 0; i < guard && !data_.empty(); ++i)
      if (at(-1 - i) != guard_value() || at(size_ + i) != guard_value()) return false;
    return true;
  }
  // Memory that must not be read: numbers that spoil every result they enter.
  void poison(std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) set(i, poison_value());
  }
  void poison_guards() { poison(-guard, 0), poison(size_, size_ + guard); }
  static Wide poison_value() {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan};
  }

 private:
  std::uint64_t guard_bytes() const { return data_.empty() ? 0 : guard * value_bytes(type_); }
  sxt_value_type type_ = SXT_F64;
  std::int64_t size_ = 0;
  std::vector<float> data_;  // enough of them; floats are always initialised memory
};

// The arrays of a case while it runs in device space. A kind's move_case, called for both directions:
//   Move move(c.moved, exec, to_device);       c.moved is a Moved kept in the case
//   move.array(c.x).array(c.y);                every array once, those only read too
//   move.point(a.x).point(a.y).scalar(a.alpha);  args that point into them, from whichever side they point to
//   return move.finish();                      waits, so that the other side may be read
struct MovedArray {
  char *host;
  std::uint64_t bytes;
  Memory device;
};
using Moved = std::vector<MovedArray>;

class Move {
 public:
  Move(Moved &moved, const sxt_exec *exec, std::int32_t to_device) : moved_(moved), exec_(exec), there_(to_device) {
    if (there_) moved_.clear();
  }
  Move &array(Array &array) { return block(array.block(), array.block_bytes()); }
  template <class T>
  Move &array(std::vector<T> &values) {
    return block(values.data(), values.size() * sizeof(T));
  }
  Move &block(void *host, std::uint64_t bytes) {
    if (bytes == 0) return *this;
    if (there_) moved_.push_back({static_cast<char *>(host), bytes, Memory(exec_, SXT_SPACE_DEVICE, bytes)});
    const auto found = std::find_if(moved_.begin(), moved_.end(), [&](const MovedArray &m) { return m.host == host; });
    if (found == moved_.end()) return *this;
    const sxt_status status = there_ ? exec_->host->copy(exec_->host, exec_, found->device.data(), host, bytes)
                                     : exec_->host->copy(exec_->host, exec_, host, found->device.data(), bytes);
    if (status_ == SXT_OK) status_ = status;
    return *this;
  }
  template <class T>
  Move &point(T *&pointer) {
    for (const MovedArray &m : moved_) {
      const char *from = there_ ? m.host : m.device.as<char>(), *at = reinterpret_cast<const char *>(pointer);
      if (at < from || at >= from + m.bytes) continue;
      const char *to = (there_ ? m.device.as<char>() : m.host) + (at - from);
      pointer = reinterpret_cast<T *>(const_cast<char *>(to));
      break;
    }
    return *this;
  }
  // Kernels then read it when they run, as captured work must.
  Move &scalar(sxt_scalar &scalar) {
    point(scalar.value);
    scalar.on_device = there_ && scalar.value ? 1 : 0;
    return *this;
  }
  sxt_status finish() {
    const sxt_status waited = exec_->host->synchronize(exec_->host, exec_);
    if (!there_) moved_.clear();
    return status_ == SXT_OK ? waited : status_;
  }

 private:
  Moved &moved_;
  const sxt_exec *exec_;
  bool there_;
  sxt_status status_ = SXT_OK;
};

// |value|, or |re| + |im| where an error bound needs that.
inline double magnitude(Wide value) { return std::abs(value.real()) + std::abs(value.imag()); }

inline bool finite(Wide value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); }

// |got - want| / bound. Where want is not finite, got must be the same kind of number in each part.
inline double distance(Wide got, Wide want, double bound) {
  const auto part = [&](double a, double b) {
    if (std::isnan(b)) return std::isnan(a) ? 0.0 : std::numeric_limits<double>::infinity();
    if (a == b) return 0.0;
    if (!std::isfinite(a) || !std::isfinite(b) || !(bound > 0)) return std::numeric_limits<double>::infinity();
    return std::abs(a - b) / bound;
  };
  return std::max(part(got.real(), want.real()), part(got.imag(), want.imag()));
}

// Ends a case that owns a Case.
template <class Case>
void free_owner(sxt_case *c) {
  delete static_cast<Case *>(c->owner);
  *c = {};
}

// The cases by which a kind tests its kernels; move_case may be null: cases run on host memory only.
struct CaseCalls {
  const sxt_kernel *reference;
  std::uint64_t n_cases;
  decltype(sxt_kind::make_case) make_case;
  decltype(sxt_kind::compare) compare;
  decltype(sxt_kind::move_case) move_case;
};

// A kind whose cases each own a Case.
template <class Case>
sxt_kind kind_of_cases(const char *id, const char *description, const CaseCalls &calls) {
  sxt_kind kind = new_kind(id, description);
  kind.reference = calls.reference;
  kind.n_cases = calls.n_cases;
  kind.make_case = calls.make_case;
  kind.compare = calls.compare;
  kind.free_case = free_owner<Case>;
  kind.move_case = calls.move_case;
  return kind;
}

// The same for a kind that also makes cases for a query.
template <class Case>
sxt_kind_alike kind_alike_of_cases(const char *id, const char *description, const CaseCalls &calls,
                                   decltype(sxt_kind_alike::make_case_like) make_case_like) {
  sxt_kind_alike kind{kind_of_cases<Case>(id, description, calls), make_case_like};
  kind.one.struct_size = sizeof kind;
  return kind;
}

// Moves a case that owns a Case with a member `moved`; what(case, move) names its arrays and pointers.
template <class Case, class F>
sxt_status move_owner(sxt_case *c, const sxt_exec *exec, std::int32_t to_device, F &&what) {
  return guard(exec, [&] {
    Case &owner = *static_cast<Case *>(c->owner);
    Move move(owner.moved, exec, to_device);
    what(owner, move);
    return move.finish();
  });
}

// Keeps the largest distance, and its place when it exceeds the bound.
class Verdict {
 public:
  Verdict(double *error, sxt_message *message) : error_(error), message_(message) { *error_ = 0; }
  void check(const char *what, std::int64_t i, Wide got, Wide want, double bound) {
    const double d = distance(got, want, bound);
    if (!(d > *error_)) return;
    *error_ = d;
    if (d > 1)
      refuse(message_, "%s[%lld] is (%.17g, %.17g), expected (%.17g, %.17g) within %.3g", what, (long long)i,
             got.real(), got.imag(), want.real(), want.imag(), bound);
  }
  void fail(const char *sentence) {
    *error_ = std::numeric_limits<double>::infinity();
    refuse(message_, "%s", sentence);
  }

 private:
  double *error_;
  sxt_message *message_;
};

// The position of every entry, rows in order, columns increasing.
struct Pattern {
  std::int64_t rows = 0, cols = 0;
  std::vector<std::vector<std::int64_t>> row;  // columns of each row
  std::int64_t nnz() const {
    std::int64_t total = 0;
    for (const auto &columns : row) total += static_cast<std::int64_t>(columns.size());
    return total;
  }
};

inline std::vector<std::int64_t> distinct_columns(std::int64_t count, std::int64_t cols, Random &random) {
  std::vector<std::int64_t> columns;
  std::vector<bool> taken(cols);
  for (count = std::min(count, cols); static_cast<std::int64_t>(columns.size()) < count;) {
    const std::int64_t j = random.below(cols);
    if (!taken[j]) columns.push_back(j);
    taken[j] = true;
  }
  std::sort(columns.begin(), columns.end());
  return columns;
}

// length(i) entries in row i, in random columns.
template <class F>
Pattern random_pattern(std::int64_t rows, std::int64_t cols, Random &random, F &&length) {
  Pattern pattern{rows, cols, {}};
  for (std::int64_t i = 0; i < rows; ++i) pattern.row.push_back(distinct_columns(length(i), cols, random));
  return pattern;
}

// Entries at j - i in offsets (increasing), as far as they fit.
inline Pattern banded_pattern(std::int64_t rows, std::int64_t cols, const std::vector<std::int64_t> &offsets) {
  Pattern pattern{rows, cols, std::vector<std::vector<std::int64_t>>(rows)};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t offset : offsets)
      if (i + offset >= 0 && i + offset < cols) pattern.row[i].push_back(i + offset);
  return pattern;
}

// A host CSR matrix with values in [-1, 1), as core would hold it: i32 columns and, unless asked, i32 offsets.
class Matrix {
 public:
  Matrix() = default;
  Matrix(const Pattern &pattern, sxt_value_type type, Random &random) : values_(type, pattern.nnz(), random) {
    row_ptr_.push_back(0);
    for (const auto &columns : pattern.row) {
      for (std::int64_t j : columns) col_.push_back(static_cast<std::int32_t>(j));
      row_ptr_.push_back(static_cast<std::int32_t>(col_.size()));
    }
    csr_.s.h = head<sxt_csr>(SXT_KIND_STORAGE_CSR);
    csr_.s.value_type = type;
    csr_.s.index_type = csr_.s.offset_type = SXT_I32;
    csr_.s.rows = pattern.rows;
    csr_.s.cols = pattern.cols;
    csr_.s.nnz = pattern.nnz();
  }
  Matrix(const Matrix &) = delete;  // csr() points into this object
  Matrix &operator=(Matrix &&) = default;

  const sxt_csr &csr() {
    csr_.row_ptr = row_ptr_.data();
    csr_.col = col_.data();
    csr_.values = values_.data();
    return csr_;
  }
  Array &values() { return values_; }
  const std::vector<std::int32_t> &row_ptr() const { return row_ptr_; }
  const std::vector<std::int32_t> &col() const { return col_; }

  // Calls f(row, column, value) for every entry in order.
  template <class F>
  void for_each(F &&f) const {
    for (std::size_t i = 0; i + 1 < row_ptr_.size(); ++i)
      for (std::int32_t k = row_ptr_[i]; k < row_ptr_[i + 1]; ++k)
        f(static_cast<std::int64_t>(i), static_cast<std::int64_t>(col_[k]), values_.at(k));
  }

  // The beginning of a query about this matrix.
  sxt_matrix_query query(const char *kind, std::uint64_t struct_size, sxt_value_type vectors) const {
    sxt_matrix_query query{};
    query.q.h = {struct_size, kind};
    query.q.expected_runs = 1;
    query.q.flags = SXT_QUERY_MATRIX;
    query.q.value_type = vectors;
    query.rows = csr_.s.rows;
    query.cols = csr_.s.cols;
    query.nnz = csr_.s.nnz;
    query.matrix_type = csr_.s.value_type;
    query.symmetry = csr_.s.symmetry;
    return query;
  }

  // Mirrors the upper values of a pattern that is symmetric; Hermitian: conjugated, with a real diagonal.
  void mirror_upper(sxt_symmetry symmetry) {
    csr_.s.symmetry = symmetry;
    for_each([&, k = std::int64_t{0}](std::int64_t i, std::int64_t j, Wide value) mutable {
      const std::int64_t here = k++;
      const auto begin = col_.begin() + row_ptr_[j], end = col_.begin() + row_ptr_[j + 1];
      const std::int64_t there = std::lower_bound(begin, end, static_cast<std::int32_t>(i)) - col_.begin();
      const bool hermitian = symmetry == SXT_HERMITIAN;
      if (j == i && hermitian) values_.set(here, value.real());
      if (j > i) values_.set(there, hermitian ? std::conj(value) : value);
    });
  }

 private:
  sxt_csr csr_{};
  std::vector<std::int32_t> row_ptr_, col_;
  Array values_;
};

}  // namespace sextant::plugin::cases
