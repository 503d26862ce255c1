// SPDX-License-Identifier: BSD-3-Clause
// What the handle of an analysis holds.
#pragma once

#include <cstdint>
#include <memory>

#include "core/cholesky/analysis.hpp"
#include "sextant/cholesky.h"

struct sxt_analysis {
  std::shared_ptr<sextant::cholesky::Analysis> analysis;
  int index_base = 0;  // of the matrix it was made from
};

namespace sextant::abi {

inline std::uint64_t id_of(const sxt_analysis *handle) { return handle ? handle->analysis->context().id() : 0; }

}  // namespace sextant::abi
