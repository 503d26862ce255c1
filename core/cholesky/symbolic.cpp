// SPDX-License-Identifier: BSD-3-Clause
#include "core/cholesky/symbolic.hpp"

#include "core/base/error.hpp"
#include "core/cholesky/structure.hpp"

namespace sextant::cholesky {

Symbolic::Symbolic(const Pattern &pattern, const Graph &graph, Elimination elimination, const Partition &partition,
                   int threads) {
  require(elimination.n == pattern.n && partition.n == pattern.n && graph.n == pattern.n, SXT_E_DIMENSION,
          "a pattern of ", pattern.n, " rows, an elimination of ", elimination.n, " columns");
  set_sizes(partition);
  rows_ = find_rows(graph, elimination, partition, row_ptr_, threads);
  perm_ = std::move(elimination.perm);
  inverse_ = std::move(elimination.inverse);
  find_entries(pattern, threads);
  show();
}

// All that follows from columns and row counts.
void Symbolic::set_sizes(const Partition &p) {
  options_ = p.options;
  summary_ = cholesky::summary(p);
  super_ptr_ = Array<std::int64_t>(p.n_super + 1), row_ptr_ = Array<std::int64_t>(p.n_super + 1);
  value_ptr_ = Array<std::int64_t>(p.n_super + 1), block_ptr_ = Array<std::int64_t>(summary_.n_blocks + 1);
  parent_ = Array<std::int32_t>(p.n_super), subtree_flops_ = Array<double>(p.n_super, 0.0);
  std::copy(p.super_ptr.begin(), p.super_ptr.end(), super_ptr_.begin());
  std::copy(p.parent.begin(), p.parent.end(), parent_.begin());
  row_ptr_[0] = value_ptr_[0] = 0;
  std::int64_t block = 0;
  for (std::int64_t s = 0; s < p.n_super; ++s) {
    const std::int64_t width = super_ptr_[s + 1] - super_ptr_[s];
    row_ptr_[s + 1] = row_ptr_[s] + p.rows[s];
    value_ptr_[s + 1] = value_ptr_[s] + p.rows[s] * width;
    if (super_ptr_[s] < summary_.n_factored)
      subtree_flops_[s] += supernode_flops(static_cast<double>(p.rows[s]), static_cast<double>(width));
    if (parent_[s] >= 0) subtree_flops_[parent_[s]] += subtree_flops_[s];
    // Even blocks, of multiples of 64 columns where they are wide.
    constexpr std::int64_t grain = 64;
    const std::int64_t blocks = block_columns(width, options_.block);
    const std::int64_t even = (width + blocks - 1) / blocks, rounded = (even + grain - 1) / grain * grain;
    const std::int64_t step = rounded <= options_.block && rounded * (blocks - 1) < width ? rounded : even;
    for (std::int64_t b = 0; b < blocks; ++b) block_ptr_[block++] = super_ptr_[s] + b * step;
  }
  block_ptr_[block] = p.n;
}

void Symbolic::find_entries(const Pattern &pattern, int threads) {
  const Supernodes supernodes{pattern.n,         parent_.size(), super_ptr_.data(), row_ptr_.data(),
                              value_ptr_.data(), rows_.data(),   perm_.data(),      inverse_.data()};
  Entries entries = cholesky::find_entries(pattern, supernodes, threads);
  entry_from_ = std::move(entries.from), entry_to_ = std::move(entries.to);
  n_straight_ = entries.straight;
}

void Symbolic::show() {
  view_ = {};
  view_.h = {sizeof view_, SXT_KIND_SYMBOLIC};
  view_.n = perm_.size(), view_.n_factored = summary_.n_factored;
  view_.n_super = summary_.n_super, view_.n_blocks = summary_.n_blocks;
  view_.nnz_l = summary_.nnz_l, view_.values = summary_.values, view_.flops = summary_.flops;
  view_.max_rows = summary_.max_rows, view_.max_width = summary_.max_width;
  view_.super_ptr = super_ptr_.data(), view_.row_ptr = row_ptr_.data(), view_.value_ptr = value_ptr_.data();
  view_.block_ptr = block_ptr_.data(), view_.rows = rows_.data(), view_.parent = parent_.data();
  view_.perm = perm_.data(), view_.inverse = inverse_.data(), view_.subtree_flops = subtree_flops_.data();
  view_.n_entries = entry_to_.size(), view_.n_straight = n_straight_;
  view_.entry_from = entry_from_.data(), view_.entry_to = entry_to_.data();
}

std::uint64_t Symbolic::bytes() const {
  std::uint64_t sum = subtree_flops_.bytes();
  for (const auto *each : {&super_ptr_, &row_ptr_, &value_ptr_, &block_ptr_, &entry_from_, &entry_to_})
    sum += each->bytes();
  for (const auto *each : {&rows_, &parent_, &perm_, &inverse_}) sum += each->bytes();
  return sum;
}

}  // namespace sextant::cholesky
