// SPDX-License-Identifier: BSD-3-Clause
// Handles that free themselves and small matrices, for tests of the C interface.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sextant.h"
#include "tests/poison.hpp"

namespace api_test {

template <class T, void (*destroy)(T *)>
struct Destroy {
  void operator()(T *handle) const { destroy(handle); }
};
using Context = std::unique_ptr<sxt_context, Destroy<sxt_context, sxt_context_destroy>>;
using Matrix = std::unique_ptr<sxt_matrix, Destroy<sxt_matrix, sxt_matrix_destroy>>;
using Vector = std::unique_ptr<sxt_vector, Destroy<sxt_vector, sxt_vector_destroy>>;
using Pcg = std::unique_ptr<sxt_pcg, Destroy<sxt_pcg, sxt_pcg_destroy>>;
using Selection = std::unique_ptr<sxt_selection, Destroy<sxt_selection, sxt_selection_destroy>>;

// Fills a handle through a create function: make<Pcg>([&](auto **out) { return sxt_pcg_create(a, nullptr, out); }).
template <class Handle, class F>
Handle make(F &&create, sxt_status expected = SXT_OK) {
  typename Handle::pointer raw = nullptr;
  EXPECT_EQ(create(&raw), expected) << sxt_last_error(nullptr);
  return Handle(raw);
}

inline sxt_context_options context_options() {
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  poison::fill(options);
  return options;
}
inline sxt_matrix_options matrix_options() {
  sxt_matrix_options options;
  sxt_matrix_options_init(&options, sizeof options);
  return options;
}
inline sxt_pcg_options pcg_options() {
  sxt_pcg_options options;
  sxt_pcg_options_init(&options, sizeof options);
  return options;
}
inline sxt_solve_options solve_options() {
  sxt_solve_options options;
  sxt_solve_options_init(&options, sizeof options);
  return options;
}
inline sxt_pcg_report new_report() {
  sxt_pcg_report report{};
  report.struct_size = sizeof report;
  return report;
}

inline Context cpu(int threads = 2, bool deterministic = false) {
  sxt_context_options options = context_options();
  options.device = "cpu";
  options.threads = threads;
  options.deterministic = deterministic;
  return make<Context>([&](sxt_context **out) { return sxt_context_create(&options, out); });
}

// Lends contexts of one thread their host memory, counts it, and refuses it on a test's request.
struct Lender {
  std::int64_t fail_at = 0, calls = 0, held = 0;
  bool for_ever = false;   // not once: every call from fail_at on
  std::uint64_t most = 0;  // bytes of one call; 0: any

  static void *allocate(void *user, std::uint64_t bytes, std::uint64_t alignment) {
    auto &self = *static_cast<Lender *>(user);
    ++self.calls;
    const bool due = self.fail_at > 0 && (self.for_ever ? self.calls >= self.fail_at : self.calls == self.fail_at);
    if (due || (self.most > 0 && bytes > self.most)) return nullptr;
    ++self.held;
    return poison::allocate(nullptr, bytes, alignment);
  }
  static void release(void *user, void *memory) {
    --static_cast<Lender *>(user)->held;
    poison::release(nullptr, memory);
  }
  sxt_context_options options() {
    sxt_context_options out = context_options();
    out.device = "cpu";
    out.threads = 1;
    out.allocate = allocate;
    out.release = release;
    out.allocator_user = this;
    return out;
  }
  Context context() {
    const sxt_context_options own = options();
    return make<Context>([&](sxt_context **out) { return sxt_context_create(&own, out); });
  }
};

// A name as part of a test's name.
inline std::string word_of(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

inline std::string last_error(const Context &context) { return sxt_last_error(context.get()); }

template <class T>
constexpr sxt_value_type type_code();
template <>
constexpr sxt_value_type type_code<float>() {
  return SXT_F32;
}
template <>
constexpr sxt_value_type type_code<double>() {
  return SXT_F64;
}

template <class T>
Vector wrap(const Context &context, std::vector<T> &values, sxt_value_type type = type_code<T>()) {
  return make<Vector>([&](sxt_vector **out) {
    return sxt_vector_wrap(context.get(), static_cast<std::int64_t>(values.size()), type, SXT_SPACE_HOST, values.data(),
                           out);
  });
}

// Zero-based CSR arrays a test can change before making a matrix of them.
struct Csr {
  std::int64_t rows = 0, cols = 0;
  std::vector<std::int32_t> ptr{0}, col;
  std::vector<double> values;

  void entry(std::int32_t column, double value) {
    col.push_back(column);
    values.push_back(value);
  }
  void end_row() { ptr.push_back(static_cast<std::int32_t>(col.size())); }
  Matrix matrix(const Context &context, sxt_status expected = SXT_OK) const {
    return make<Matrix>(
        [&](sxt_matrix **out) {
          return sxt_matrix_from_csr(context.get(), rows, cols, ptr.data(), col.data(), values.data(), nullptr, out);
        },
        expected);
  }
  std::vector<double> times(const std::vector<double> &x) const {
    std::vector<double> y(static_cast<std::size_t>(rows));
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int32_t k = ptr[i]; k < ptr[i + 1]; ++k) y[i] += values[k] * x[col[k]];
    return y;
  }
  // Gives a matrix of this pattern these values.
  void update(const Matrix &matrix) const {
    EXPECT_EQ(sxt_matrix_update_values(matrix.get(), values.data(), static_cast<std::int64_t>(values.size())), SXT_OK)
        << sxt_last_error(nullptr);
  }
  // S A S with S = diag(s(0), s(1), ...).
  template <class F>
  Csr scaled(F &&s) const {
    Csr out = *this;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int32_t k = ptr[i]; k < ptr[i + 1]; ++k)
        out.values[k] *= s(static_cast<double>(i)) * s(static_cast<double>(col[k]));
    return out;
  }
  // The same pattern and definiteness, every entry changed by up to a factor of four.
  Csr renewed() const {
    return scaled([](double i) { return std::exp2(std::sin(i)); });
  }
};

// |b - A x| / |b|, computed here, in extended precision: in double its own rounding may be the larger part.
inline double relative_residual(const Csr &a, const std::vector<double> &b, const std::vector<double> &x) {
  long double residual = 0, norm = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    long double sum = b[row];
    for (std::int32_t k = a.ptr[row]; k < a.ptr[row + 1]; ++k)
      sum -= static_cast<long double>(a.values[static_cast<std::size_t>(k)]) * x[static_cast<std::size_t>(a.col[k])];
    residual += sum * sum, norm += static_cast<long double>(b[row]) * b[row];
  }
  return static_cast<double>(std::sqrt(residual / norm));
}

// The 5-point Laplacian of a side x side grid plus `shift` times the identity.
inline Csr laplacian(int side, double shift = 0) {
  Csr a;
  a.rows = a.cols = std::int64_t{side} * side;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      const int row = i * side + j;
      if (i > 0) a.entry(row - side, -1);
      if (j > 0) a.entry(row - 1, -1);
      a.entry(row, 4 + shift);
      if (j + 1 < side) a.entry(row + 1, -1);
      if (i + 1 < side) a.entry(row + side, -1);
      a.end_row();
    }
  return a;
}

// A symmetric positive definite matrix whose diagonal varies over six decades.
inline Csr badly_scaled(int side) {
  return laplacian(side, 0.01).scaled([](double i) { return std::pow(10.0, 3.0 * std::sin(0.7 * i)); });
}

// The same matrix with its rows and columns renumbered at random, and all values distinct.
inline Csr shuffled(const Csr &a, unsigned seed = 3) {
  std::vector<std::int32_t> name(static_cast<std::size_t>(a.rows)), old(name.size());
  std::iota(name.begin(), name.end(), 0);
  std::mt19937 random(seed);
  for (std::size_t i = name.size() - 1; i > 0; --i) std::swap(name[i], name[random() % (i + 1)]);
  for (std::size_t i = 0; i < name.size(); ++i) old[static_cast<std::size_t>(name[i])] = static_cast<std::int32_t>(i);
  Csr out;
  out.rows = out.cols = a.rows;
  for (const std::int32_t i : old) {
    std::vector<std::pair<std::int32_t, double>> row;
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) {
      const double both = static_cast<double>(i) + static_cast<double>(a.col[k]);  // symmetric
      row.emplace_back(name[static_cast<std::size_t>(a.col[k])], a.values[k] * (1 + 0.01 * std::sin(both)));
    }
    std::sort(row.begin(), row.end());
    for (const auto &[column, value] : row) out.entry(column, value);
    out.end_row();
  }
  return out;
}

inline Csr diagonal(const std::vector<double> &entries) {
  Csr a;
  a.rows = a.cols = static_cast<std::int64_t>(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    a.entry(static_cast<std::int32_t>(i), entries[i]);
    a.end_row();
  }
  return a;
}

// Solves from x, and into it: finite numbers for every outcome.
inline sxt_pcg_report solve(const Pcg &pcg, const std::vector<double> &b, std::vector<double> &x,
                            sxt_status expected = SXT_OK, const sxt_solve_options *options = nullptr) {
  sxt_pcg_report report = new_report();
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), static_cast<std::int64_t>(b.size()), b.data(), x.data(), options, &report),
            expected)
      << sxt_last_error(nullptr);
  for (const double each : x) EXPECT_TRUE(std::isfinite(each));
  return report;
}

// The whole text of an explain function.
template <class F>
std::string explanation(F &&write) {
  std::int64_t length = 0;
  EXPECT_EQ(write(nullptr, 0, &length), SXT_OK);
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  EXPECT_EQ(write(text.data(), static_cast<std::int64_t>(text.size()), nullptr), SXT_OK);
  text.resize(static_cast<std::size_t>(length));
  return text;
}
inline std::string explain(const Pcg &pcg, std::int32_t form = SXT_TEXT) {
  return explanation([&](char *text, std::int64_t capacity, std::int64_t *length) {
    return sxt_pcg_explain(pcg.get(), form, text, capacity, length);
  });
}
inline std::string explain(const Selection &selection, std::int32_t form = SXT_TEXT) {
  return explanation([&](char *text, std::int64_t capacity, std::int64_t *length) {
    return sxt_selection_explain(selection.get(), form, text, capacity, length);
  });
}

// A product with a matrix, this many times.
inline sxt_spmv_query product_query(double runs) {
  sxt_spmv_query query{};
  query.m.q.h = {sizeof query, SXT_KIND_SPMV};
  query.m.q.expected_runs = runs;
  query.m.q.flags = SXT_QUERY_MATRIX;
  query.n_rhs = 1;
  return query;
}

}  // namespace api_test
