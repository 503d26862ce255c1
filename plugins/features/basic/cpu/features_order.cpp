// SPDX-License-Identifier: BSD-3-Clause
// features.order.cpu, tier 1: how the lengths of rows follow one another, from windows of the row pointers. A processor
// predicts the end of a row's loop from the rows before; a small predictor of that kind estimates how often this fails.
// SELL sorts windows of rows where that saves entries; its stored entries are counted by the same rule.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>

#include "features.hpp"
#include "plugins/features/shared/names.hpp"
#include "sextant/sdk/cpu/csr.hpp"

namespace sextant::features_basic {

using namespace plugin;

namespace {

const char *const names[] = {"row_nnz_unforeseen", "row_nnz_unforeseen_8", SXT_FEATURES_OF_WINDOWS, nullptr};
constexpr int n_values = std::size(names) - 1;
const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 1, 0, nullptr};

constexpr std::int64_t window = 512;       // rows that SELL sorts together
constexpr std::int64_t most_windows = 16;  // that are looked at, spread evenly
constexpr std::int64_t slice = 8;
constexpr std::uint32_t bins = 1024;  // longer rows are counted one by one

std::int64_t windows_of(std::int64_t rows) { return (rows + window - 1) / window; }
std::int64_t windows_seen(std::int64_t rows) { return std::min(most_windows, windows_of(rows)); }

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double rows = static_cast<double>(std::min(q.rows, windows_seen(q.rows) * window));
  CpuCost cost;
  cost.stream_bytes = cost.working_set = 4 * rows + 3e4;
  // About fifteen cycles a row, one at a time, and the tables.
  cost.flops = (15 * rows + 3e3) * multiply_add_flops(SXT_F64) * scalar_slowdown(*machine, SXT_F64);
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, cost).state_bytes = sizeof(State);
  return SXT_OK;
}

// A model of a branch predictor with a history: it predicts the number that last followed the same three.
class Predictor {
 public:
  Predictor() { last_.fill(~0u); }
  // Whether the prediction was wrong.
  bool surprised(std::uint32_t number) {
    std::uint32_t &expected = last_[(history_ * 0x9e3779b97f4a7c15u) >> 52];
    const bool wrong = expected != number;
    expected = number;
    history_ = (history_ << 20 | (number & 0xfffff)) & 0xfffffffffffffffu;
    return wrong;
  }

 private:
  std::uint64_t history_ = 0;
  std::array<std::uint32_t, 4096> last_;
};

// Entries that SELL stores of a window in slices of eight rows, unsorted and longest first.
class Slices {
 public:
  void add(std::uint32_t length) {
    longest_ = std::max(longest_, length);
    if (++rows_ % slice == 0) end_slice();
    if (length < bins)
      ++count_[length];
    else
      beyond_[static_cast<std::size_t>(long_++)] = length;
  }
  // Ends the window: entries stored, and whether sorting saves the 3 % for which it is done.
  std::int64_t stored(bool *sorted) {
    if (rows_ % slice) end_slice();
    const std::int64_t best = sum_sorted();
    *sorted = as_they_come_ * 100 > best * 103;
    const std::int64_t sum = *sorted ? best : as_they_come_;
    as_they_come_ = rows_ = 0;
    return sum;
  }

 private:
  void end_slice() {
    as_they_come_ += slice * longest_;
    longest_ = 0;
  }
  // Every eighth row of the falling order is the longest of its slice.
  std::int64_t sum_sorted() {
    std::sort(beyond_.begin(), beyond_.begin() + long_, std::greater<>());
    std::int64_t sum = 0, place = 0;
    for (; place < long_; ++place)
      if (place % slice == 0) sum += slice * beyond_[static_cast<std::size_t>(place)];
    long_ = 0;
    for (std::int64_t length = bins - 1, left = rows_ - place; length >= 0 && left > 0; --length) {
      const std::int64_t here = count_[length];
      sum += ((place + here + slice - 1) / slice - (place + slice - 1) / slice) * slice * length;
      place += here;
      left -= here;
      count_[length] = 0;
    }
    return sum;
  }

  std::array<std::uint16_t, bins> count_{};
  std::array<std::uint32_t, window> beyond_;
  std::ptrdiff_t long_ = 0;
  std::int64_t rows_ = 0, as_they_come_ = 0;
  std::uint32_t longest_ = 0;
};

template <class Offset>
void evaluate(const sxt_csr &a, const Offset *row_ptr, double (&values)[n_values]) {
  Predictor lengths, lanes;
  Slices slices;
  const std::int64_t rows = a.s.rows, all = windows_of(rows), seen = windows_seen(rows);
  std::int64_t looked = 0, unforeseen = 0, unforeseen_8 = 0, rest = 0, stored = 0, sorted = 0;
  for (std::int64_t w = 0; w < seen; ++w) {
    const std::int64_t first = all * w / seen * window, end = std::min(rows, first + window);
    for (std::int64_t i = first; i < end; ++i) {
      const auto length = static_cast<std::uint32_t>(std::min<Offset>(row_ptr[i + 1] - row_ptr[i], 1 << 30));
      unforeseen += lengths.surprised(length);
      unforeseen_8 += lanes.surprised((length + 7) / 8);
      rest += length % 8;
      slices.add(length);
    }
    bool is_sorted = false;
    stored += slices.stored(&is_sorted);
    sorted += is_sorted;
    looked += end - first;
  }
  const double scale = looked > 0 ? static_cast<double>(rows) / static_cast<double>(looked) : 0;
  values[0] = scale * static_cast<double>(unforeseen);
  values[1] = scale * static_cast<double>(unforeseen_8);
  values[2] = scale * static_cast<double>(stored);
  values[3] = scale * static_cast<double>(rest);
  values[4] = seen > 0 ? static_cast<double>(sorted) / static_cast<double>(seen) : 0;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  return guard(exec, [&] {
    const sxt_csr &a = *static_cast<const State *>(opaque)->a;
    return with_csr_indices(a, [&](const auto *row_ptr, const auto *) {
      double values[n_values];
      evaluate(a, row_ptr, values);
      return answer(as<sxt_features_args>(head), names, values);
    });
  });
}

}  // namespace

const sxt_kernel order_kernel = feature_kernel(
    "features.order.cpu", "how row lengths follow one another, from windows of rows", &ops, candidates, run);

}  // namespace sextant::features_basic
