// SPDX-License-Identifier: BSD-3-Clause
// The storage format "@DOMAIN@.storage.@NAME@/1": compressed rows whose columns are stored as 16-bit distances from the
// row, for matrices of a small bandwidth. What the product reads.
#pragma once

#include <cstdint>

#include "sextant/plugin/kinds/storage.h"

#define KIND_STORAGE "@DOMAIN@.storage.@NAME@/1"

// Entry k of row i, row_ptr[i] <= k < row_ptr[i + 1], stands in column i + distance[k] and has values[k].
struct NearCsr {
  sxt_storage s;
  const void *row_ptr, *values;
  const std::int16_t *distance;
};
