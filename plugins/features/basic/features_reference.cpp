// SPDX-License-Identifier: BSD-3-Clause
// features.reference.cpu: every feature of this folder that has a definition, each computed on its own from it, sampled
// ones from all of the matrix. What caches keep (x_*) is a model, tested against patterns made for it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "features.hpp"
#include "sextant/plugin_csr.hpp"

namespace sextant::features_basic {

using namespace plugin;

namespace {

using Rows = std::vector<std::vector<std::int64_t>>;

const char *const names[] = {"row_nnz_mean",
                             "density",
                             "row_nnz_max",
                             "row_nnz_min",
                             "row_nnz_std",
                             "empty_rows",
                             "row_nnz_third",
                             "row_nnz_above_third",
                             "row_nnz_sum_ceil_4",
                             "row_nnz_sum_ceil_8",
                             "row_nnz_sum_ceil_16",
                             "row_nnz_sum_ceil_32",
                             "row_nnz_sum_max_of_8",
                             "row_nnz_sum_max_of_32",
                             "row_imbalance_2",
                             "row_imbalance_4",
                             "row_imbalance_8",
                             "row_imbalance_16",
                             "row_imbalance_32",
                             "row_imbalance_64",
                             "block_fill_2",
                             "block_fill_3",
                             "block_fill_4",
                             "block_fill_8",
                             "bandwidth_least",
                             "diagonals_least",
                             "bandwidth",
                             "diagonals",
                             "diagonal_fill",
                             "column_span_mean",
                             "symmetric_diagonals",
                             nullptr};
const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 3, 0};
constexpr std::uint64_t n_names = std::size(names) - 1;

struct Answers {
  double values[n_names];
};

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = fill(list.add(), 1, CpuCost{});
  // The work is done by prepare, which may allocate: trees of diagonals and blocks take about 300 ns an entry.
  candidate.setup_s = 3e-7 * static_cast<double>(q.nnz + q.rows);
  candidate.state_bytes = sizeof(Answers);
  return SXT_OK;
}

double length(const Rows &rows, std::size_t i) { return static_cast<double>(rows[i].size()); }

double sum_of_longest(const Rows &rows, std::size_t group) {
  double sum = 0;
  for (std::size_t start = 0; start < rows.size(); start += group) {
    double longest = 0;
    for (std::size_t i = start; i < std::min(start + group, rows.size()); ++i)
      longest = std::max(longest, length(rows, i));
    sum += static_cast<double>(group) * longest;
  }
  return sum;
}

double imbalance(const Rows &rows, int parts) {
  double most = 0, all = 0;
  for (int part = 0; part < parts; ++part) {
    const Range own = part_of(static_cast<std::int64_t>(rows.size()), parts, part);
    double entries = 0;
    for (std::int64_t i = own.begin; i < own.end; ++i) entries += length(rows, static_cast<std::size_t>(i));
    most = std::max(most, entries);
    all += entries;
  }
  return all > 0 ? most * parts / all : 1;
}

double block_fill(const Rows &rows, std::int64_t b) {
  std::set<std::pair<std::int64_t, std::int64_t>> blocks;
  double nnz = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::int64_t j : rows[i]) blocks.emplace(static_cast<std::int64_t>(i) / b, j / b), ++nnz;
  return nnz > 0 ? nnz / (static_cast<double>(blocks.size()) * static_cast<double>(b * b)) : 1;
}

void describe_lengths(const Rows &rows, std::int64_t cols, std::vector<double> &out) {
  const double n = static_cast<double>(rows.size());
  double nnz = 0, most = 0, least = rows.empty() ? 0 : length(rows, 0), empty = 0, variance = 0, third = 0, above = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) nnz += length(rows, i);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    most = std::max(most, length(rows, i));
    least = std::min(least, length(rows, i));
    empty += rows[i].empty();
    variance += (length(rows, i) - nnz / n) * (length(rows, i) - nnz / n) / n;
  }
  for (double h = 1; h <= most; ++h) {
    double reach = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) reach += length(rows, i) >= h;
    if (3 * reach >= n) third = h;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) above += std::max(0.0, length(rows, i) - third);
  const double cells = n * static_cast<double>(cols);
  out = {n > 0 ? nnz / n : 0, cells > 0 ? nnz / cells : 0, most, least, std::sqrt(variance), empty, third, above};
  for (double granule : {4, 8, 16, 32}) {
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) sum += std::ceil(length(rows, i) / granule) * granule;
    out.push_back(sum);
  }
  for (std::size_t group : {8, 32}) out.push_back(sum_of_longest(rows, group));
  for (int parts : {2, 4, 8, 16, 32, 64}) out.push_back(imbalance(rows, parts));
}

void describe_columns(const Rows &rows, std::vector<double> &out) {
  std::set<std::int64_t> diagonals, distances;
  const double n = static_cast<double>(rows.size());
  double nnz = 0, bandwidth = 0, span = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::int64_t j : rows[i]) {
      const std::int64_t diagonal = j - static_cast<std::int64_t>(i);
      diagonals.insert(diagonal);
      distances.insert(std::abs(diagonal));
      bandwidth = std::max(bandwidth, std::abs(static_cast<double>(diagonal)));
      ++nnz;
    }
    if (!rows[i].empty()) span += static_cast<double>(rows[i].back() - rows[i].front()) / n;
  }
  for (std::int64_t b : {2, 3, 4, 8}) out.push_back(block_fill(rows, b));
  const double found = static_cast<double>(diagonals.size());
  const double fill = found > 0 ? nnz / (found * n) : 1;
  for (double value : {bandwidth, found, bandwidth, found, fill, span, static_cast<double>(distances.size())})
    out.push_back(value);
}

sxt_status prepare_answers(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                           void **state) {
  return guard(exec, [&] {
    const auto &a = as<sxt_csr>(problem->a);
    Rows rows(static_cast<std::size_t>(a.s.rows));
    const auto add = [&](std::int64_t i, std::int64_t, std::int64_t j) {
      rows[static_cast<std::size_t>(i)].push_back(j);
    };
    for_each_entry(a, Range{0, a.s.rows}, add);
    std::vector<double> values;
    describe_lengths(rows, a.s.cols, values);
    describe_columns(rows, values);
    auto answers = std::make_unique<Answers>();
    std::copy_n(values.data(), n_names, answers->values);
    return give(answers.release(), state);
  });
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *) {
  return answer(as<sxt_features_args>(head), names, static_cast<const Answers *>(state)->values);
}

}  // namespace

const sxt_kernel reference_kernel = [] {
  sxt_kernel k = feature_kernel("features.reference.cpu", "every feature from its definition", &ops, candidates, run);
  k.flags |= SXT_KERNEL_REFERENCE;
  k.prepare = prepare_answers;
  k.refresh = nullptr;
  k.release = destroy<Answers>;
  return k;
}();

}  // namespace sextant::features_basic
