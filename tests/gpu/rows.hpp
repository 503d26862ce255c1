// SPDX-License-Identifier: BSD-3-Clause
// Matrices of small integers for tests on a GPU, so that every order of additions gives the same bits: an answer is
// right or wrong.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "core/matrix/matrix.hpp"

namespace gpu_test {

using namespace sextant;

// A matrix as rows of (column, value), in double.
class Rows {
 public:
  Rows(std::int64_t rows, std::int64_t cols) : cols_(cols), entries_(static_cast<std::size_t>(rows)) {}
  // Diagonals with values of 1 to 7; symmetric: the mirror image of an entry has its value.
  static Rows bands(std::int64_t n, const std::vector<std::int64_t> &offsets) {
    Rows a(n, n);
    for (std::int64_t i = 0; i < n; ++i)
      for (const std::int64_t offset : offsets)
        if (i + offset >= 0 && i + offset < n) a.set(i, i + offset, value(std::min(i, i + offset), std::abs(offset)));
    return a;
  }
  // The 7-point stencil of a box: neighbours over its faces have no entry.
  static Rows box(std::int64_t x, std::int64_t y, std::int64_t z, double main = 9) {
    Rows a(x * y * z, x * y * z);
    for (std::int64_t i = 0; i < x * y * z; ++i) {
      a.set(i, i, main);
      const auto join = [&](bool there, std::int64_t offset) {
        if (there) a.set(i, i + offset, value(i, offset)), a.set(i + offset, i, value(i, offset));
      };
      join(i % x + 1 < x, 1);
      join(i / x % y + 1 < y, x);
      join(i / x / y + 1 < z, x * y);
    }
    return a;
  }
  void set(std::int64_t i, std::int64_t j, double v) { entries_[static_cast<std::size_t>(i)][j] = v; }
  std::int64_t rows() const { return static_cast<std::int64_t>(entries_.size()); }
  std::int64_t cols() const { return cols_; }

  std::vector<double> times(const std::vector<double> &x) const {
    std::vector<double> y;
    for (const auto &row : entries_) {
      double sum = 0;
      for (const auto &[j, v] : row) sum += v * x[static_cast<std::size_t>(j)];
      y.push_back(sum);
    }
    return y;
  }
  std::shared_ptr<Matrix> on(const std::shared_ptr<sextant::Context> &context, sxt_value_type type,
                             sxt_symmetry symmetry) const {
    std::vector<std::int32_t> ptr = {0}, col;
    std::vector<double> wide;
    for (const auto &row : entries_) {
      for (const auto &[j, v] : row) col.push_back(static_cast<std::int32_t>(j)), wide.push_back(v);
      ptr.push_back(static_cast<std::int32_t>(col.size()));
    }
    const std::vector<float> narrow(wide.begin(), wide.end());
    EntryArrays arrays;
    arrays.layout = EntryArrays::Layout::csr;
    arrays.rows = rows(), arrays.cols = cols_, arrays.nnz = static_cast<std::int64_t>(col.size());
    arrays.value_type = type;
    arrays.row = ptr.data(), arrays.col = col.data();
    arrays.values = type == SXT_F32 ? static_cast<const void *>(narrow.data()) : wide.data();
    AssemblyOptions options;
    options.symmetry = symmetry;
    return std::make_shared<Matrix>(context, assemble(arrays, options, context->allocator()), symmetry);
  }

 private:
  static double value(std::int64_t i, std::int64_t offset) { return static_cast<double>(1 + (i * 5 + offset) % 7); }
  std::int64_t cols_;
  std::vector<std::map<std::int64_t, double>> entries_;
};

inline std::vector<double> integers(std::int64_t n) {
  std::vector<double> x;
  for (std::int64_t i = 0; i < n; ++i) x.push_back(static_cast<double>(i * 7 % 13 - 6));
  return x;
}

}  // namespace gpu_test
