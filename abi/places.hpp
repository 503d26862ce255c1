// SPDX-License-Identifier: BSD-3-Clause
// Places in sentences. Core and kernels count from 0 and say so; sentences for a caller with index_base 1 count from 1.
#pragma once

#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace sextant::abi {

// The sentence with its places moved by `base`, where it says "(counting from 0)": numbers after "row", "column",
// "value", "vector" and "place", numbers in brackets, and pairs in parentheses.
std::string restated(const std::string &sentence, int base);

// Runs f; the sentence of what it throws counts from `base`.
template <class F>
decltype(auto) counting_from(int base, F &&f) {
  try {
    return std::forward<F>(f)();
  } catch (const Error &error) {
    if (base == 0) throw;
    throw Error(error.status(), restated(error.what(), base));
  }
}

}  // namespace sextant::abi
