// SPDX-License-Identifier: BSD-3-Clause
// features.reference.cpu: every feature of this folder that has a definition, each computed on its own from it, sampled
// ones from all of the matrix. Features of caches (x_*) and of branch predictors are models, tested against patterns
// made for them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "features.hpp"
#include "plugins/features/shared/names.hpp"
#include "plugins/formats/strips.hpp"
#include "sextant/sdk/cpu/csr.hpp"

namespace sextant::features_basic {

using namespace plugin;

namespace {

using Rows = std::vector<std::vector<std::int64_t>>;

const char *const names[] = {SXT_FEATURES_OF_SIZES,
                             SXT_FEATURES_OF_LENGTHS,
                             SXT_FEATURES_OF_CEILINGS,
                             SXT_FEATURES_OF_SLICES,
                             SXT_FEATURES_OF_PARTS,
                             SXT_FEATURES_OF_WINDOWS,
                             SXT_FEATURES_OF_BLOCKS,
                             SXT_FEATURES_OF_BANDS,
                             SXT_FEATURES_OF_STRIPS,
                             SXT_FEATURES_OF_COLUMNS,
                             nullptr};
const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 3, 0, nullptr};
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

// Entries that SELL stores in slices of eight when it sorts each window of rows where that saves 3 %, and the share of
// windows that it sorts.
void describe_windows(const Rows &rows, std::vector<double> &out) {
  double stored = 0, sorted = 0, windows = 0, rest = 0;
  for (std::size_t first = 0; first < rows.size(); first += 512, ++windows) {
    Rows here(rows.begin() + static_cast<std::ptrdiff_t>(first),
              rows.begin() + static_cast<std::ptrdiff_t>(std::min(first + 512, rows.size())));
    for (const auto &row : here) rest += static_cast<double>(row.size() % 8);
    const double as_they_come = sum_of_longest(here, 8);
    std::stable_sort(here.begin(), here.end(), [](const auto &a, const auto &b) { return a.size() > b.size(); });
    const double longest_first = sum_of_longest(here, 8);
    const bool worth = as_they_come > 1.03 * longest_first;
    sorted += worth;
    stored += worth ? longest_first : as_they_come;
  }
  out.insert(out.end(), {stored, rest, windows > 0 ? sorted / windows : 0});
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

// Strips kept and columns gathered by slices of eight rows, each slice keeping the strips of so many lanes or more that
// cost it least.
void describe_strips(const Rows &rows, std::vector<double> &out) {
  double strips = 0, gathered = 0;
  for (std::size_t first = 0; first < rows.size(); first += strip_lanes) {
    const std::size_t end = std::min<std::size_t>(rows.size(), first + strip_lanes);
    std::map<std::int64_t, std::set<std::size_t>> lanes;  // by diagonal
    for (std::size_t i = first; i < end; ++i)
      for (std::int64_t j : rows[i]) lanes[j - static_cast<std::int64_t>(i)].insert(i);
    double least = std::numeric_limits<double>::infinity(), kept_then = 0, rest_then = 0;
    for (std::size_t threshold = 1; threshold <= strip_lanes + 1; ++threshold) {
      double kept = 0;
      std::map<std::size_t, double> rest;
      for (const auto &[diagonal, in] : lanes) {
        kept += in.size() >= threshold;
        for (std::size_t i : in) rest[i] += in.size() < threshold;
      }
      double longest = 0;
      for (const auto &[row, count] : rest) longest = std::max(longest, count);
      if (strip_cost * kept + longest < least)
        least = strip_cost * kept + longest, kept_then = kept, rest_then = longest;
    }
    strips += kept_then;
    gathered += rest_then;
  }
  out.insert(out.end(), {strips, gathered});
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
  describe_windows(rows, out);
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
  const double of_2 = block_fill(rows, 2);
  for (std::int64_t b = 2; b <= 8; ++b)  // between 4 and 8 only where those of 2 are half full
    out.push_back(b <= 4 || b == 8 || of_2 >= 0.5 ? block_fill(rows, b) : 0);
  const double found = static_cast<double>(diagonals.size());
  const double fill = found > 0 ? nnz / (found * n) : 1;
  for (double value : {bandwidth, found}) out.push_back(value);
  describe_strips(rows, out);
  for (double value : {bandwidth, found, fill, span, static_cast<double>(distances.size())}) out.push_back(value);
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
