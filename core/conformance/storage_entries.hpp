// SPDX-License-Identifier: BSD-3-Clause
// The entries of a matrix as a storage holds them, read back to the host: for the formats of plugin/kinds/storage.h.
#pragma once

#include <complex>
#include <cstdint>
#include <tuple>
#include <vector>

#include "sextant/plugin/kinds/storage.h"

namespace sextant::conformance {

struct Entry {
  std::int64_t row, column;
  std::complex<double> value;
  bool operator<(const Entry &other) const { return std::tie(row, column) < std::tie(other.row, other.column); }
  bool operator==(const Entry &other) const {
    return row == other.row && column == other.column && value == other.value;
  }
};

// Whether the layout of a storage kind is known here.
bool known_format(const char *kind);

// All entries that are not zero, by row and column; both triangles of a storage that holds one. Throws SXT_E_PLUGIN for
// what no such storage can be: entries outside of the matrix, offsets that fall.
std::vector<Entry> entries_of(const sxt_storage &storage, const sxt_exec &exec);

}  // namespace sextant::conformance
