// SPDX-License-Identifier: BSD-3-Clause
// From CSR to diagonals: their offsets and values.
#pragma once

#include <cstdint>
#include <memory>

#include "plugins/formats/dia.hpp"
#include "sextant/sdk/cpu/csr.hpp"

namespace storage_dia {

namespace plugin = sextant::plugin;

// Which diagonals hold an entry; index: column - row + rows - 1. All threads write the same mark, so relaxed order
// suffices.
class Marks {
 public:
  Marks(const sxt_csr &a, int team);
  std::int64_t count(std::int64_t first_offset) const;
  // The marked offsets from first_offset on, ascending.
  void list(std::int64_t first_offset, std::int64_t *offsets) const;

 private:
  std::int64_t rows_, size_;
  std::unique_ptr<unsigned char[]> marks_;
};

// values[d * ld + i] = A(i, i + offset[d]), zero where there is no entry. Every thread writes the rows that it will
// multiply, so that their pages are in its memory.
sxt_status fill(const sxt_csr &a, const sxt_dia &view, void *values, int team);

// Elements between diagonals: whole cache lines, and not a multiple of a page, where streams would fall into one cache
// set.
std::int64_t leading_dimension(std::int64_t rows, sxt_value_type type);

}  // namespace storage_dia
