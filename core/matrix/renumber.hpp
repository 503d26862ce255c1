// SPDX-License-Identifier: BSD-3-Clause
// A matrix with its rows and columns in another order.
#pragma once

#include <cstdint>
#include <memory>

#include "core/matrix/matrix.hpp"

namespace sextant {

// P A P^T on the host, in A's types: row k is row perm[k] of A, and so with columns. It takes new values in the order
// of A's canonical arrays (update_values(A's values)), allocating nothing. perm: a permutation of A's index type. A is
// square; nothing of it is kept.
std::shared_ptr<Matrix> renumbered(const Matrix &a, const void *perm);

// Predicted seconds of that.
double renumbered_seconds(const Matrix &a);

// The largest distance of an entry from the diagonal.
std::int64_t bandwidth_of(const CsrArrays &csr, int threads);

// Predicted seconds of that.
double bandwidth_seconds(const Matrix &a);

}  // namespace sextant
