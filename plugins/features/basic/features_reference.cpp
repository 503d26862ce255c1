// SPDX-License-Identifier: BSD-3-Clause
// features.reference.cpu: every feature of this folder, each computed on its own from its definition; and the kind
// sxt.features/1. The kind has no cases: its args do not say which names a kernel computes, so an answer can only be
// judged by who knows the kernel's ops. The test of this folder compares kernels by name.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <set>
#include <vector>

#include "features.hpp"
#include "sextant/plugin_csr.hpp"

namespace sextant::features_basic {

using namespace plugin;

namespace {

const char *const names[] = {"row_nnz_mean", "row_nnz_max", "row_nnz_min",   "row_nnz_std",      "empty_rows",
                             "bandwidth",    "diagonals",   "diagonal_fill", "column_span_mean", nullptr};
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
  // The work is done by prepare, which may allocate: a tree of diagonals takes about 50 ns an entry.
  candidate.setup_s = 5e-8 * static_cast<double>(q.nnz + q.rows);
  candidate.state_bytes = sizeof(Answers);
  return SXT_OK;
}

void compute(const sxt_csr &a, double *values) {
  std::vector<std::vector<std::int64_t>> rows(a.s.rows);
  for_each_entry(a, Range{0, a.s.rows}, [&](std::int64_t i, std::int64_t, std::int64_t j) { rows[i].push_back(j); });
  double mean = 0, most = 0, least = 0, variance = 0, empty = 0, bandwidth = 0, span = 0;
  std::set<std::int64_t> diagonals;
  const double n = static_cast<double>(rows.size());
  if (!rows.empty()) least = static_cast<double>(rows[0].size());
  for (const auto &row : rows) mean += static_cast<double>(row.size()) / n;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double length = static_cast<double>(rows[i].size());
    most = std::max(most, length);
    least = std::min(least, length);
    variance += (length - mean) * (length - mean) / n;
    empty += length == 0;
    for (std::int64_t j : rows[i]) {
      const std::int64_t diagonal = j - static_cast<std::int64_t>(i);
      diagonals.insert(diagonal);
      bandwidth = std::max(bandwidth, std::abs(static_cast<double>(diagonal)));
    }
    if (length > 0) span += static_cast<double>(rows[i].back() - rows[i].front()) / n;
  }
  const double found = static_cast<double>(diagonals.size());
  const double fill = found > 0 ? static_cast<double>(a.s.nnz) / (found * n) : 1;
  const double all[] = {mean, most, least, std::sqrt(variance), empty, bandwidth, found, fill, span};
  static_assert(std::size(all) == n_names);
  std::copy_n(all, n_names, values);
}

sxt_status prepare_answers(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                           void **state) {
  return guard(exec, [&] {
    auto answers = std::make_unique<Answers>();
    compute(as<sxt_csr>(problem->a), answers->values);
    return give(answers.release(), state);
  });
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *) {
  const auto &args = as<sxt_features_args>(head);
  std::copy_n(static_cast<const Answers *>(state)->values, std::min(args.count, n_names), args.values);
  return SXT_OK;
}

}  // namespace

const sxt_kernel reference_kernel = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_FEATURES, "features.reference.cpu", "cpu", "every feature from its definition", run);
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  k.term_names = cpu_terms;
  k.ops = &ops;
  k.candidates = candidates;
  k.prepare = prepare_answers;
  k.release = destroy<Answers>;
  return k;
}();

const sxt_kind kind = [] {
  sxt_kind k = new_kind(SXT_KIND_FEATURES, "named numbers about a matrix");
  k.reference = &reference_kernel;
  return k;
}();

}  // namespace sextant::features_basic
