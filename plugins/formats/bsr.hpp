// SPDX-License-Identifier: BSD-3-Clause
// The block size of BSR, by one rule for its storage (from the pattern) and its models (from features).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant::plugin {

inline constexpr int bsr_least = 2, bsr_most = 8;

// Below this many places nothing is refused: a small matrix costs little in any storage format.
inline constexpr double bsr_small = 65536;

// Bytes of an entry in blocks that are full to `fill`, each with a 32-bit column, and in compressed rows.
inline double bsr_entry_bytes(int block, double fill, double value) { return (value + 4.0 / (block * block)) / fill; }
inline double csr_entry_bytes(double value) { return value + 4; }

struct BsrChoice {
  int block = 0;  // 0: none was offered
  double fill = 0;
};

// The block size that moves the fewest bytes; of those within 2 % of it the largest. fill(k): nnz / places in blocks of
// k, NaN where unknown.
template <class F>
BsrChoice choose_bsr_block(double value, F &&fill) {
  double least = 0;
  for (int k = bsr_least; k <= bsr_most; ++k)
    if (const double bytes = bsr_entry_bytes(k, fill(k), value); std::isfinite(bytes) && (least == 0 || bytes < least))
      least = bytes;
  BsrChoice choice;
  for (int k = bsr_least; k <= bsr_most; ++k)
    if (bsr_entry_bytes(k, fill(k), value) <= 1.02 * least) choice = {k, fill(k)};
  return choice;
}

inline bool bsr_pays(const BsrChoice &choice, double value) {
  return choice.block && bsr_entry_bytes(choice.block, choice.fill, value) <= csr_entry_bytes(value);
}

// ---- what storages and features share

// Distinct block columns of a block row, each recognised by the last one that was marked in its place; two that share a
// place and take turns there count too often, which is rare.
class BlockColumns {
 public:
  void next_row() { ++row_; }
  // True when it was not there.
  bool mark(std::uint32_t column) {
    std::uint64_t &place = last_[(column * 0x9e3779b1u) >> 21];
    const std::uint64_t tag = row_ << 32 | column;
    const bool is_new = place != tag;
    place = tag;
    return is_new;
  }

 private:
  std::uint64_t row_ = 0;
  std::array<std::uint64_t, 2048> last_{};
};

// A storage samples the fill of every size over at most so many block rows, spread evenly.
inline constexpr std::int64_t bsr_rows_looked_at = 2048;
// Sample s of `looked` among the block rows.
inline constexpr std::int64_t bsr_sampled_row(std::int64_t block_rows, std::int64_t looked, std::int64_t s) {
  return block_rows / looked * s + block_rows % looked * s / looked;
}

inline constexpr const char *bsr_wrong_size = "a block size of 2 to 8 was expected in launch[1] or SEXTANT_BSR_BLOCK";

// The size in the environment; 0: not set; -1: not a valid size.
inline int given_bsr_block(const sxt_candidate *candidate) {
  std::int64_t given = candidate ? candidate->launch[1] : 0;
  if (const char *text = given ? nullptr : secure_getenv("SEXTANT_BSR_BLOCK"); text && *text) {
    char *end = nullptr;
    given = std::strtol(text, &end, 10);
    if (*end || given == 0) return -1;
  }
  return given == 0 || (given >= bsr_least && given <= bsr_most) ? static_cast<int>(given) : -1;
}

// The block size by the sampled fills, or the reason why there is none.
inline sxt_status decide_bsr_block(const sxt_storage &a, const double (&fills)[bsr_most + 1], const sxt_exec *exec,
                                   int *block) {
  const double value = static_cast<double>(value_bytes(a.value_type));
  const BsrChoice choice = choose_bsr_block(value, [&](int k) { return fills[k]; });
  *block = choice.block ? choice.block : bsr_least;  // without entries any will do
  const double places = choice.block ? static_cast<double>(a.nnz) / choice.fill : 0;
  if (places <= bsr_small || bsr_pays(choice, value)) return SXT_OK;
  return error(exec, SXT_NOT_APPLICABLE,
               "no block size pays: the best, %d, is %.0f %% full and moves %.1f bytes an entry, compressed rows %.0f",
               choice.block, 100 * choice.fill, bsr_entry_bytes(choice.block, choice.fill, value),
               csr_entry_bytes(value));
}

// ---- what models share

#define SXT_BSR_FEATURES \
  "block_fill_2", "block_fill_3", "block_fill_4", "block_fill_5", "block_fill_6", "block_fill_7", "block_fill_8"
inline constexpr std::uint64_t n_bsr_features = bsr_most - bsr_least + 1;
inline constexpr const char *bsr_features[] = {SXT_BSR_FEATURES, nullptr};

// The choice by those features, the first of them at `first`.
inline BsrChoice bsr_choice(const sxt_matrix_query &m, const sxt_features *found, std::uint64_t first = 0) {
  return choose_bsr_block(static_cast<double>(value_bytes(m.matrix_type)),
                          [&](int k) { return feature(found, first + static_cast<std::uint64_t>(k - bsr_least)); });
}

// Of devices' features: blocks of the fullest block row among sampled ones, and the longest row.
#define SXT_FULLEST_BLOCK_ROW_FEATURES                                                                \
  "block_row_most_2", "block_row_most_3", "block_row_most_4", "block_row_most_5", "block_row_most_6", \
      "block_row_most_7", "block_row_most_8", "row_nnz_max"
// Blocks of the fullest block row by those features, the first of them at `first`: the sample may have missed the
// longest row, whose entries fill so many blocks at least. NaN: unknown.
inline double fullest_block_row(const sxt_features *found, std::uint64_t first, int block) {
  const double sampled = feature(found, first + static_cast<std::uint64_t>(block - bsr_least)),
               longest = feature(found, first + n_bsr_features);
  return std::fmax(sampled, std::ceil(longest / block));
}

// Products refuse columns that do not fit, and blocks that are far too empty.
inline sxt_status bsr_refusal(const sxt_matrix_query &m, const BsrChoice &choice, sxt_message *reason) {
  if (m.cols >= std::int64_t{1} << 31)
    return refuse(reason, "%lld columns do not fit the 32-bit columns it reads", (long long)m.cols);
  const double value = static_cast<double>(value_bytes(m.matrix_type));
  if (!choice.block || static_cast<double>(m.nnz) / choice.fill <= bsr_small) return SXT_OK;
  // Other samples may find a better size; blocks that are far too empty are none of any size.
  if (bsr_entry_bytes(choice.block, choice.fill, value) <= 1.5 * csr_entry_bytes(value)) return SXT_OK;
  return refuse(reason, "blocks of %d are %.0f %% full: %.1f bytes an entry, compressed rows %.0f", choice.block,
                100 * choice.fill, bsr_entry_bytes(choice.block, choice.fill, value), csr_entry_bytes(value));
}

}  // namespace sextant::plugin
