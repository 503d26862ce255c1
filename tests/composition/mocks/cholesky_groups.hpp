// SPDX-License-Identifier: BSD-3-Clause
// The bookkeeping of the level-by-level Cholesky scheduler: which supernodes form a level, and groups of dense
// operations whose arrays are allocated once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sextant/plugin/kinds/cholesky.h"
#include "sextant/plugin/kinds/dense.h"
#include "sextant/sdk/kernel.hpp"

namespace mock::cholesky {

// Supernodes by level: leaves first, every other one after all of its children.
inline std::vector<std::vector<std::int64_t>> levels_of(const sxt_symbolic &symbolic) {
  std::vector<std::size_t> level(symbolic.n_super, 0);
  std::vector<std::vector<std::int64_t>> levels;
  for (std::int64_t s = 0; s < symbolic.n_super; ++s) {  // parents come after their children
    if (levels.size() <= level[s]) levels.resize(level[s] + 1);
    levels[level[s]].push_back(s);
    if (const std::int64_t parent = symbolic.parent[s]; parent >= 0)
      level[parent] = std::max(level[parent], level[s] + 1);
  }
  return levels;
}

// The dense block of one supernode: its own columns, and all their rows.
struct Panel {
  std::int64_t first, width, rows;  // first column; rows below the diagonal block included
  const std::int32_t *row;          // global row of each
  double *values;
  double *at(std::int64_t i, std::int64_t j) const { return values + i + j * rows; }
  std::int64_t place(std::int32_t global) const { return std::lower_bound(row, row + rows, global) - row; }
};

inline Panel panel_of(const sxt_symbolic &symbolic, std::int64_t s, double *values) {
  return {symbolic.super_ptr[s], symbolic.super_ptr[s + 1] - symbolic.super_ptr[s],
          symbolic.row_ptr[s + 1] - symbolic.row_ptr[s], symbolic.rows + symbolic.row_ptr[s],
          values + symbolic.value_ptr[s]};
}

// Calls f(begin, end) for the rows below the diagonal block, cut where they belong to another supernode.
template <class F>
void for_each_target(const Panel &panel, const std::vector<std::int32_t> &super_of, F &&f) {
  for (std::int64_t begin = panel.width, end; begin < panel.rows; begin = end) {
    for (end = begin; end < panel.rows && super_of[panel.row[end]] == super_of[panel.row[begin]];) ++end;
    f(begin, end);
  }
}

struct Block {
  double *values = nullptr;
  std::int64_t ld = 1;
};

// One grouped call in the making.
class Group {
 public:
  void reserve(std::size_t items) {
    for (auto *list : {&m_, &n_, &k_, &info_}) list->reserve(items);
    for (auto *list : {&a_, &b_, &c_}) list->reserve(items);
    for (auto *list : {&lda_, &ldb_, &ldc_}) list->reserve(items);
  }
  void clear() {
    for (auto *list : {&m_, &n_, &k_, &info_}) list->clear();
    for (auto *list : {&a_, &b_, &c_}) list->clear();
    for (auto *list : {&lda_, &ldb_, &ldc_}) list->clear();
  }
  void add(std::int64_t m, std::int64_t n, std::int64_t k, Block a, Block b = {}, Block c = {}) {
    m_.push_back(static_cast<std::int32_t>(m)), n_.push_back(static_cast<std::int32_t>(n));
    k_.push_back(static_cast<std::int32_t>(k)), info_.push_back(0);
    a_.push_back(a.values), b_.push_back(b.values), c_.push_back(c.values);
    lda_.push_back(a.ld), ldb_.push_back(b.ld), ldc_.push_back(c.ld);
  }
  sxt_status run(std::int32_t operation, const sxt_bound &part, const sxt_exec &exec) {
    if (m_.empty()) return SXT_OK;
    sxt_dense_args args{};
    args.h = sextant::plugin::head<sxt_dense_args>(SXT_KIND_DENSE);
    args.operation = operation;
    args.value_type = SXT_F64;
    args.count = static_cast<std::int64_t>(m_.size());
    args.m = m_.data(), args.n = n_.data(), args.k = k_.data();
    args.a = a_.data(), args.b = b_.data(), args.c = c_.data();
    args.lda = lda_.data(), args.ldb = ldb_.data(), args.ldc = ldc_.data();
    args.info = info_.data();
    return sextant::plugin::run(part, args.h, exec);
  }
  std::size_t size() const { return m_.size(); }
  std::int32_t info(std::size_t item) const { return info_[item]; }
  const double *c(std::size_t item) const { return static_cast<const double *>(c_[item]); }

 private:
  std::vector<std::int32_t> m_, n_, k_, info_;
  std::vector<void *> a_, b_, c_;
  std::vector<std::int64_t> lda_, ldb_, ldc_;
};

}  // namespace mock::cholesky
