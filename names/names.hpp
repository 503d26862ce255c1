// SPDX-License-Identifier: BSD-3-Clause
// "Did you mean": the known name nearest to one that is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// The known name with the least edit distance (Levenshtein 1966), "" when none is within half of the longer length.
std::string nearest_name(std::string_view wanted, const std::vector<std::string> &known);

// "no preconditioner named 'jacoby'; the nearest is 'jacobi'; known: ..."
std::string unknown_name(std::string_view what, std::string_view wanted, const std::vector<std::string> &known);

}  // namespace sextant
