// SPDX-License-Identifier: BSD-3-Clause
// features.rows.cpu, tier 1: row lengths, from one parallel pass over the row pointers. Lengths are counted in a
// histogram a thread; all features follow from its integers, for any number of threads. Rows beyond the last bin are
// rare and have separate sums.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "features.hpp"
#include "plugins/features/shared/names.hpp"
#include "sextant/sdk/cpu/csr.hpp"

namespace sextant::features_basic {

using namespace plugin;

namespace {

const char *const names[] = {SXT_FEATURES_OF_LENGTHS, SXT_FEATURES_OF_CEILINGS, SXT_FEATURES_OF_SLICES,
                             SXT_FEATURES_OF_PARTS, nullptr};
const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 1, 0, nullptr};

constexpr std::int64_t bins = 1024;    // rows of this many entries and more share what follows the histogram
constexpr std::int64_t slice = 32;     // the largest group of rows; parts are cut at its multiples
constexpr std::int64_t many = 100000;  // rows from which a team is faster despite its fork

struct Lengths {
  std::uint64_t count[2][bins];  // two banks: adjacent equal lengths need not wait for each other's store
  std::int64_t most, max_of_8, max_of_32;
  std::int64_t beyond, beyond_ceil[4];  // rows of `bins` and more: how many, and their rounded sums
  double beyond_sum, beyond_squares;
};

constexpr std::int64_t granules[] = {4, 8, 16, 32};

std::int64_t rounded(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

int threads_for(std::int64_t rows, int units) { return rows < many ? 1 : std::max(1, units); }

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const int threads = threads_for(q.rows, machine->units);
  CpuCost cost;
  cost.stream_bytes = cost.working_set = 4 * static_cast<double>(q.rows);
  // About five cycles a row, one at a time; then the bins are read once a thread.
  cost.flops =
      (5 * static_cast<double>(q.rows) + 2.0 * bins) * multiply_add_flops(SXT_F64) * scalar_slowdown(*machine, SXT_F64);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = fill(list.add(), threads, cost);
  candidate.state_bytes = sizeof(State);
  candidate.scratch_bytes = static_cast<std::uint64_t>(threads) * sizeof(Lengths);
  return SXT_OK;
}

void count_beyond(std::int64_t length, Lengths &out) {
  ++out.beyond;
  out.beyond_sum += static_cast<double>(length);
  out.beyond_squares += static_cast<double>(length) * static_cast<double>(length);
  for (int g = 0; g < 4; ++g) out.beyond_ceil[g] += rounded(length, granules[g]);
}

template <class Offset>
void count_lengths(const Offset *row_ptr, Range rows, Lengths &out) {
  std::memset(&out, 0, sizeof out);
  for (std::int64_t start = rows.begin; start < rows.end; start += slice) {
    if (start + slice <= rows.end && row_ptr[start] == row_ptr[start + slice]) {  // a slice of empty rows
      out.count[0][0] += slice;
      continue;
    }
    std::int64_t longest = 0;
    for (std::int64_t eight = start; eight < std::min(start + slice, rows.end); eight += 8) {
      std::int64_t longest_of_8 = 0;
      for (std::int64_t i = eight; i < std::min(eight + 8, rows.end); ++i) {
        const std::int64_t length = row_ptr[i + 1] - row_ptr[i];
        longest_of_8 = std::max(longest_of_8, length);
        if (length < bins)
          ++out.count[i & 1][length];
        else
          count_beyond(length, out);
      }
      out.max_of_8 += 8 * longest_of_8;
      longest = std::max(longest, longest_of_8);
    }
    out.max_of_32 += slice * longest;
    out.most = std::max(out.most, longest);
  }
}

void merge(Lengths &into, const Lengths &from) {
  for (int bank = 0; bank < 2; ++bank)
    for (std::int64_t l = 0; l < bins; ++l) into.count[0][l] += from.count[bank][l];
  into.most = std::max(into.most, from.most);
  into.max_of_8 += from.max_of_8;
  into.max_of_32 += from.max_of_32;
  into.beyond += from.beyond;
  into.beyond_sum += from.beyond_sum;
  into.beyond_squares += from.beyond_squares;
  for (int g = 0; g < 4; ++g) into.beyond_ceil[g] += from.beyond_ceil[g];
}

// The first bank of the first thread gets the sums of all.
void merge_all(Lengths *all, int threads) {
  for (std::int64_t l = 0; l < bins; ++l) all[0].count[0][l] += all[0].count[1][l];
  for (int t = 1; t < threads; ++t) merge(all[0], all[t]);
}

// Rows of so many entries and more; and the entries beyond so many.
template <class Offset>
void count_from(const Offset *row_ptr, std::int64_t rows, std::int64_t length, std::int64_t *count, double *above) {
  *count = 0;
  *above = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t own = row_ptr[i + 1] - row_ptr[i];
    *count += own >= length;
    if (own > length) *above += static_cast<double>(own - length);
  }
}

// The largest H that a third of the rows reach, and the entries above it.
template <class Offset>
void third(const Lengths &all, const Offset *row_ptr, std::int64_t rows, double out[2]) {
  std::int64_t reach = all.beyond, h = bins;
  double above = 0;
  if (3 * reach >= rows && rows > 0) {  // long rows are the rule: bisect, which reads the row pointers again
    std::int64_t low = bins, high = all.most;
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      count_from(row_ptr, rows, middle, &reach, &above);
      if (3 * reach >= rows)
        low = middle;
      else
        high = middle - 1;
    }
    count_from(row_ptr, rows, h = low, &reach, &above);
  } else {
    while (h > 0 && 3 * reach < rows) reach += static_cast<std::int64_t>(all.count[0][--h]);
    above = all.beyond_sum - static_cast<double>(all.beyond) * static_cast<double>(h);
    for (std::int64_t l = h + 1; l < bins; ++l)
      above += static_cast<double>(all.count[0][l]) * static_cast<double>(l - h);
  }
  out[0] = rows > 0 ? static_cast<double>(h) : 0;
  out[1] = rows > 0 ? above : 0;
}

double deviation(const Lengths &all, double rows, double nnz) {
  if (rows == 0) return 0;
  const double mean = nnz / rows, beyond = static_cast<double>(all.beyond);
  double squares = all.beyond_squares - 2 * mean * all.beyond_sum + beyond * mean * mean;
  for (std::int64_t l = 0; l < bins; ++l) {
    const double from_mean = static_cast<double>(l) - mean;
    squares += static_cast<double>(all.count[0][l]) * from_mean * from_mean;
  }
  return std::sqrt(std::max(0.0, squares / rows));
}

template <class Offset>
double imbalance(const Offset *row_ptr, std::int64_t rows, std::int64_t nnz, int parts) {
  if (nnz == 0) return 1;
  std::int64_t most = 0;
  for (int part = 0; part < parts; ++part) {
    const Range own = part_of(rows, parts, part);
    most = std::max<std::int64_t>(most, row_ptr[own.end] - row_ptr[own.begin]);
  }
  return static_cast<double>(most) * parts / static_cast<double>(nnz);
}

template <class Offset>
void evaluate(const Lengths &all, const sxt_csr &a, const Offset *row_ptr, double *values) {
  const std::int64_t rows = a.s.rows;
  std::int64_t least = 0;
  while (least < bins && all.count[0][least] == 0) ++least;
  if (least == bins) {  // no short row at all
    least = all.most;
    for (std::int64_t i = 0; i < rows; ++i) least = std::min<std::int64_t>(least, row_ptr[i + 1] - row_ptr[i]);
  }
  *values++ = static_cast<double>(all.most);
  *values++ = static_cast<double>(least);
  *values++ = deviation(all, static_cast<double>(rows), static_cast<double>(a.s.nnz));
  *values++ = static_cast<double>(all.count[0][0]);
  third(all, row_ptr, rows, values);
  values += 2;
  for (int g = 0; g < 4; ++g) {
    std::int64_t sum = all.beyond_ceil[g];
    for (std::int64_t l = 1; l < bins; ++l) sum += static_cast<std::int64_t>(all.count[0][l]) * rounded(l, granules[g]);
    *values++ = static_cast<double>(sum);
  }
  *values++ = static_cast<double>(all.max_of_8);
  *values++ = static_cast<double>(all.max_of_32);
  for (int parts = 2; parts <= 64; parts *= 2) *values++ = imbalance(row_ptr, rows, a.s.nnz, parts);
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const sxt_csr &a = *state.a;
  const int threads = team_size(state.launch[0], *exec);
  if (const sxt_status status = need_scratch(exec, threads * sizeof(Lengths)); status != SXT_OK) return status;
  auto *lengths = static_cast<Lengths *>(exec->scratch);
  return with_csr_indices(a, [&](const auto *row_ptr, const auto *) {
    for_each_part(threads, threads,
                  [&](int part) { count_lengths(row_ptr, part_of(a.s.rows, threads, part, slice), lengths[part]); });
    merge_all(lengths, threads);
    double values[std::size(names) - 1];
    evaluate(lengths[0], a, row_ptr, values);
    return answer(as<sxt_features_args>(head), names, values);
  });
}

}  // namespace

const sxt_kernel rows_kernel =
    feature_kernel("features.rows.cpu", "row lengths, from the row pointers", &ops, candidates, run);

}  // namespace sextant::features_basic
