// SPDX-License-Identifier: BSD-3-Clause
// features.columns.cpu, tier 3: where the columns lie, from one pass over all of them. Diagonals are marked in a bitmap
// in scratch. A matrix without entries has bandwidth, diagonals and span 0 and fill 1.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "features.hpp"
#include "sextant/plugin_csr.hpp"

namespace sextant::features_basic {

using namespace plugin;

namespace {

const char *const names[] = {"bandwidth", "diagonals", "diagonal_fill", "column_span_mean", nullptr};
const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 3, 0};

std::uint64_t bitmap_words(std::int64_t rows, std::int64_t cols) {
  return static_cast<std::uint64_t>(rows + cols) / 64 + 1;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double nnz = static_cast<double>(q.nnz), rows = static_cast<double>(q.rows);
  const double bitmap = 8 * static_cast<double>(bitmap_words(q.rows, q.cols));
  CpuCost cost;
  cost.stream_bytes = 4 * nnz + 4 * rows + 2 * bitmap;
  cost.working_set = 4 * nnz + 4 * rows + bitmap;
  // About three cycles an entry, none of them vectorised.
  cost.flops = 3 * nnz * multiply_add_flops(SXT_F64) * scalar_slowdown(*machine, SXT_F64);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = fill(list.add(), 1, cost);
  candidate.state_bytes = sizeof(State);
  candidate.scratch_bytes = 8 * bitmap_words(q.rows, q.cols);
  return SXT_OK;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const sxt_csr &a = *static_cast<const State *>(opaque)->a;
  const auto &args = as<sxt_features_args>(head);
  const std::uint64_t words = bitmap_words(a.s.rows, a.s.cols);
  const sxt_status status = need_scratch(exec, 8 * words);
  if (status != SXT_OK) return status;
  auto *bitmap = static_cast<std::uint64_t *>(exec->scratch);
  std::fill_n(bitmap, words, std::uint64_t{0});
  return with_csr_indices(a, [&](const auto *row_ptr, const auto *col) {
    std::int64_t bandwidth = 0, diagonals = 0;
    double spans = 0;
    for (std::int64_t i = 0; i < a.s.rows; ++i) {
      const auto first = row_ptr[i], end = row_ptr[i + 1];
      if (first == end) continue;
      // Columns increase, so the ends of a row decide its span and its distance from the diagonal.
      const std::int64_t left = col[first], right = col[end - 1];
      spans += static_cast<double>(right - left);
      bandwidth = std::max({bandwidth, i - left, right - i});
      for (auto k = first; k < end; ++k) {
        const std::uint64_t diagonal = static_cast<std::uint64_t>(col[k] - i + a.s.rows);
        bitmap[diagonal / 64] |= std::uint64_t{1} << diagonal % 64;
      }
    }
    for (std::uint64_t w = 0; w < words; ++w) diagonals += std::popcount(bitmap[w]);
    const double cells = static_cast<double>(diagonals) * static_cast<double>(a.s.rows);
    const double values[] = {static_cast<double>(bandwidth), static_cast<double>(diagonals),
                             cells > 0 ? static_cast<double>(a.s.nnz) / cells : 1,
                             a.s.rows ? spans / static_cast<double>(a.s.rows) : 0};
    std::copy_n(values, std::min<std::uint64_t>(args.count, std::size(values)), args.values);
    return SXT_OK;
  });
}

}  // namespace

const sxt_kernel columns_kernel = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_FEATURES, "features.columns.cpu", "cpu", "bandwidth, diagonals and column spans", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  k.term_names = cpu_terms;
  k.ops = &ops;
  k.candidates = candidates;
  k.prepare = prepare;
  k.refresh = refresh;
  k.release = destroy<State>;
  return k;
}();

}  // namespace sextant::features_basic
