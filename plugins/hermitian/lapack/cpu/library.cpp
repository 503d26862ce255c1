// SPDX-License-Identifier: BSD-3-Clause
#include "library.hpp"

namespace sextant::hermitian_lapack {

Lapack::Lapack() {
  const char letters[] = {'s', 'd', 'c', 'z'};
  for (int i = 0; i < 4; ++i) {
    const std::string letter(1, letters[i]), symmetric = i < 2 ? "sy" : "he";
    find(of[i].factor, letter + "potrf_");
    find(of[i].solve, letter + "potrs_");
    find(of[i].pivoted_factor, letter + symmetric + "trf_");
    find(of[i].pivoted_solve, letter + symmetric + "trs_");
  }
}

const Lapack &Lapack::instance() {
  static const Lapack library;
  return library;
}

}  // namespace sextant::hermitian_lapack
