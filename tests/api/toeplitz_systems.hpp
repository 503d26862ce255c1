// SPDX-License-Identifier: BSD-3-Clause
// Toeplitz systems in sets of Hermitian systems.
#pragma once

#include <cmath>
#include <cstdint>

#include "tests/api/hermitian_support.hpp"

namespace api_test {

// Makes system s the Toeplitz matrix with first column t.
template <class T, class F>
void make_toeplitz(Systems<T> &systems, std::int64_t s, F &&t) {
  for (std::int64_t j = 0; j < systems.n; ++j)
    for (std::int64_t i = j; i < systems.n; ++i) {
      systems.full[s][i + j * systems.n] = t(i - j);
      systems.full[s][j + i * systems.n] = Scalar<T>::conj(t(i - j));
    }
  systems.store(s);
}

// 0.7^k, turned by an angle: condition number below 32 at any order.
template <class T>
T falling(std::int64_t k, double angle) {
  const double size = std::pow(0.7, static_cast<double>(k)), at = angle * static_cast<double>(k);
  return Scalar<T>::make(size * std::cos(at), Scalar<T>::complex && k > 0 ? size * std::sin(at) : 0);
}

}  // namespace api_test
