// SPDX-License-Identifier: BSD-3-Clause
// Which block size BSR takes, decided alike by its storage (from the pattern) and its models (from features).
#pragma once

#include <cstdint>

#include "sextant/kinds/spmv.h"
#include "sextant/plugin_cpu.hpp"

namespace sextant::plugin {

inline constexpr int bsr_least = 2, bsr_most = 8;

// Below so many places nothing is refused: a small matrix costs little in any form.
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
    if (const double bytes = bsr_entry_bytes(k, fill(k), value); bytes > 0 && (least == 0 || bytes < least))
      least = bytes;
  BsrChoice choice;
  for (int k = bsr_least; k <= bsr_most; ++k)
    if (bsr_entry_bytes(k, fill(k), value) <= 1.02 * least) choice = {k, fill(k)};
  return choice;
}

inline bool bsr_pays(const BsrChoice &choice, double value) {
  return choice.block && bsr_entry_bytes(choice.block, choice.fill, value) <= csr_entry_bytes(value);
}

inline constexpr const char *bsr_features[] = {"block_fill_2", "block_fill_3", "block_fill_4", "block_fill_8", nullptr};

// The choice by those features, which do not cover every size the storage tries.
inline BsrChoice bsr_choice(const sxt_matrix_query &m, const sxt_features *found) {
  return choose_bsr_block(static_cast<double>(value_bytes(m.matrix_type)), [&](int k) {
    return k <= 4   ? feature(found, static_cast<std::uint64_t>(k - 2))
           : k == 8 ? feature(found, 3)
                    : feature(nullptr, 0);
  });
}

}  // namespace sextant::plugin
