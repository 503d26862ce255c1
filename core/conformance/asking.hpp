// SPDX-License-Identifier: BSD-3-Clause
// Ways of asking: what of a query decides which code of a kernel answers it. Types, operation and columns are of it,
// sizes are not.
#pragma once

#include <cstdint>

#include "core/base/query.hpp"

namespace sextant::conformance {

// Equal for queries that one test covers: the way of asking and the storage.
std::uint64_t way_of_asking(const Query &query);

// Whether a case's query asks as `like` does.
bool asks_alike(const Query &query, const Query &like);

}  // namespace sextant::conformance
