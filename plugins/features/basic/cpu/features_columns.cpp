// SPDX-License-Identifier: BSD-3-Clause
// features.columns.cpu, tier 3: where the columns lie, from one parallel pass over all of them. Diagonals are marked in
// a map a thread, in scratch: a byte each while that fits a cache, since a store to a byte does not depend on other
// threads, else a bit each. A matrix without entries has bandwidth, diagonals and span 0 and fill 1.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "features.hpp"
#include "plugins/features/shared/names.hpp"
#include "sextant/sdk/cpu/csr.hpp"

namespace sextant::features_basic {

using namespace plugin;

namespace {

const char *const names[] = {SXT_FEATURES_OF_COLUMNS, nullptr};
const sxt_features_ops ops = {sizeof(sxt_features_ops), names, 3, 0, nullptr};

constexpr std::int64_t many = 50000;                        // entries from which a team is faster despite its fork
constexpr std::int64_t empty_rows = 32;                     // that are passed over at once
constexpr std::int64_t most_bytes = std::int64_t{1} << 20;  // diagonals that are marked in bytes

struct Found {
  std::int64_t bandwidth;
  double spans;  // an exact integer below 2^53
};

int threads_for(std::int64_t nnz, int units) { return nnz < many ? 1 : std::max(1, units); }

std::uint64_t bitmap_words(std::int64_t rows, std::int64_t cols) {
  return static_cast<std::uint64_t>(rows + cols) / 64 + 1;
}

bool in_bytes(std::int64_t rows, std::int64_t cols) { return rows + cols <= most_bytes; }

// One thread's bitmap, and its bytes behind that: eight words of bytes become one of bits.
std::uint64_t map_words(std::int64_t rows, std::int64_t cols) {
  return bitmap_words(rows, cols) * (in_bytes(rows, cols) ? 9 : 1);
}

std::uint64_t scratch_words(std::int64_t rows, std::int64_t cols, int threads) {
  return static_cast<std::uint64_t>(threads) * (map_words(rows, cols) + sizeof(Found) / 8);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const int threads = threads_for(q.nnz, machine->units);
  const double nnz = static_cast<double>(q.nnz), rows = static_cast<double>(q.rows);
  const double maps = 8.0 * threads * static_cast<double>(map_words(q.rows, q.cols));
  const double cycles = in_bytes(q.rows, q.cols) ? 1.5 : 4;  // an entry, nothing vectorised
  CpuCost cost;
  cost.stream_bytes = 4 * nnz + 4 * rows + 2 * maps;
  cost.working_set = 4 * nnz + 4 * rows + maps;
  cost.flops = cycles * nnz * multiply_add_flops(SXT_F64) * scalar_slowdown(*machine, SXT_F64);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = fill(list.add(), threads, cost);
  candidate.state_bytes = sizeof(State);
  candidate.scratch_bytes = 8 * scratch_words(q.rows, q.cols, threads);
  return SXT_OK;
}

struct Bits {
  std::uint64_t *words;
  void mark(std::uint64_t diagonal) const { words[diagonal / 64] |= std::uint64_t{1} << diagonal % 64; }
};

struct Bytes {
  unsigned char *bytes;
  void mark(std::uint64_t diagonal) const { bytes[diagonal] = 1; }
};

// Bit i of a word from byte i of eight words.
void pack(const unsigned char *bytes, std::uint64_t words, std::uint64_t *bits) {
  for (std::uint64_t w = 0; w < words; ++w) {
    std::uint64_t packed = 0;
    for (int i = 0; i < 8; ++i) {
      std::uint64_t eight;
      std::memcpy(&eight, bytes + 64 * w + 8 * i, sizeof eight);
      // Every product puts byte k (0 or 1) into bit 56 + k; lower ones carry nothing into these.
      packed |= (eight * 0x0102040810204080u) >> 56 << 8 * i;
    }
    bits[w] = packed;
  }
}

// Marks the diagonals of some rows: j - i + rows.
template <class Offset, class Column, class Map>
Found mark(const sxt_csr &a, const Offset *row_ptr, const Column *col, Range rows, Map map) {
  Found found{0, 0};
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const std::int64_t first = row_ptr[i], end = row_ptr[i + 1];
    if (first == end) {
      if (i + empty_rows <= rows.end && row_ptr[i + empty_rows] == first) i += empty_rows - 1;
      continue;
    }
    // Columns increase, so the ends of a row decide its span and its distance from the diagonal.
    const std::int64_t left = col[first], right = col[end - 1];
    found.spans += static_cast<double>(right - left);
    found.bandwidth = std::max({found.bandwidth, i - left, right - i});
    for (std::int64_t k = first; k < end; ++k) map.mark(static_cast<std::uint64_t>(col[k] - i + a.s.rows));
  }
  return found;
}

// The same into a bitmap, by way of bytes where these are few.
template <class Offset, class Column>
Found mark_bits(const sxt_csr &a, const Offset *row_ptr, const Column *col, Range rows, std::uint64_t *bitmap) {
  const std::uint64_t words = bitmap_words(a.s.rows, a.s.cols);
  std::fill_n(bitmap, map_words(a.s.rows, a.s.cols), std::uint64_t{0});
  if (!in_bytes(a.s.rows, a.s.cols)) return mark(a, row_ptr, col, rows, Bits{bitmap});
  auto *bytes = reinterpret_cast<unsigned char *>(bitmap + words);
  const Found found = mark(a, row_ptr, col, rows, Bytes{bytes});
  pack(bytes, words, bitmap);
  return found;
}

// All diagonals in the bitmap, and those left when an offset and its negative count as one.
void count_diagonals(const std::uint64_t *bitmap, std::uint64_t words, std::int64_t rows, double out[2]) {
  std::int64_t all = 0, distances = 0;
  for (std::uint64_t w = 0; w < words; ++w)
    for (std::uint64_t bits = bitmap[w]; bits; bits &= bits - 1) {
      const std::int64_t offset = static_cast<std::int64_t>(64 * w) + std::countr_zero(bits) - rows;
      const auto mirror = static_cast<std::uint64_t>(rows - offset);
      ++all;
      const bool mirrored = mirror / 64 < words && (bitmap[mirror / 64] >> mirror % 64 & 1);
      distances += offset >= 0 || !mirrored;
    }
  out[0] = static_cast<double>(all);
  out[1] = static_cast<double>(distances);
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const sxt_csr &a = *state.a;
  const int threads = team_size(state.launch[0], *exec);
  const std::uint64_t words = bitmap_words(a.s.rows, a.s.cols), stride = map_words(a.s.rows, a.s.cols);
  const sxt_status status = need_scratch(exec, 8 * scratch_words(a.s.rows, a.s.cols, threads));
  if (status != SXT_OK) return status;
  auto *bitmap = static_cast<std::uint64_t *>(exec->scratch);
  auto *found = reinterpret_cast<Found *>(bitmap + static_cast<std::uint64_t>(threads) * stride);
  return with_csr_indices(a, [&](const auto *row_ptr, const auto *col) {
    for_each_part(threads, threads, [&](int part) {
      found[part] = mark_bits(a, row_ptr, col, part_of(a.s.rows, threads, part),
                              bitmap + static_cast<std::uint64_t>(part) * stride);
    });
    for (int part = 1; part < threads; ++part) {
      const std::uint64_t *other = bitmap + static_cast<std::uint64_t>(part) * stride;
      for (std::uint64_t w = 0; w < words; ++w) bitmap[w] |= other[w];
      found[0].bandwidth = std::max(found[0].bandwidth, found[part].bandwidth);
      found[0].spans += found[part].spans;
    }
    double diagonals[2];
    count_diagonals(bitmap, words, a.s.rows, diagonals);
    const double rows = static_cast<double>(a.s.rows), cells = diagonals[0] * rows;
    const double values[] = {static_cast<double>(found[0].bandwidth), diagonals[0],
                             cells > 0 ? static_cast<double>(a.s.nnz) / cells : 1, rows > 0 ? found[0].spans / rows : 0,
                             diagonals[1]};
    return answer(as<sxt_features_args>(head), names, values);
  });
}

}  // namespace

const sxt_kernel columns_kernel =
    feature_kernel("features.columns.cpu", "bandwidth, diagonals and column spans", &ops, candidates, run);

}  // namespace sextant::features_basic
