// SPDX-License-Identifier: BSD-3-Clause
#include "blas.hpp"

#include <string>

namespace sextant_dense {

Blas::Blas() {
  const char letters[] = {'s', 'd', 'c', 'z'};
  for (int i = 0; i < 4; ++i) {
    const std::string letter(1, letters[i]);
    find(of[i].potrf, letter + "potrf_");
    find(of[i].gemm, letter + "gemm_");
    find(of[i].syrk, letter + (i < 2 ? "syrk_" : "herk_"));
    find(of[i].trsm, letter + "trsm_");
  }
}

const Blas &Blas::instance() {
  static const Blas library;
  return library;
}

}  // namespace sextant_dense
