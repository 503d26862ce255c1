// SPDX-License-Identifier: BSD-3-Clause
// Synthetic sparse matrices on which models are fitted. Seeded: equal calls give equal matrices on every machine.
// Matrices from files never take part, so that what a model says of them is a prediction.
#pragma once

#include <cstdint>

#include "core/matrix/assemble.hpp"

namespace sextant {

int family_count() noexcept;
const char *family_name(int family) noexcept;
// True for those whose values are symmetric, so that symmetric storages apply.
bool family_symmetric(int family) noexcept;

// A square matrix of the family with about nnz entries (at least a few rows), canonical CSR. Diagonally dominant where
// it has a full diagonal. Throws SXT_E_MEMORY.
Assembled make_family_matrix(int family, std::int64_t nnz, sxt_value_type type, const Allocator &allocator);

}  // namespace sextant
