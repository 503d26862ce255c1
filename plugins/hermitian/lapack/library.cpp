// SPDX-License-Identifier: BSD-3-Clause
#include "library.hpp"

#include <cstdint>
#include <string>

namespace sextant::hermitian_lapack {

Lapack::Lapack() : VendorLibrary(names) {
  const char letters[] = {'s', 'd', 'c', 'z'};
  for (int i = 0; i < 4; ++i) {
    const std::string letter(1, letters[i]), symmetric = i < 2 ? "sy" : "he";
    find(of[i].factor, (letter + "potrf_").c_str());
    find(of[i].solve, (letter + "potrs_").c_str());
    find(of[i].pivoted_factor, (letter + symmetric + "trf_").c_str());
    find(of[i].pivoted_solve, (letter + symmetric + "trs_").c_str());
  }
  // Only OpenBLAS has these; what is looked up without find() may be missing.
  VendorLibrary optional(names);
  optional.find(set_threads, "openblas_set_num_threads");
  optional.find(get_threads, "openblas_get_num_threads");
}

const Lapack &Lapack::instance() {
  static const Lapack library;
  return library;
}

OneThreadACall::OneThreadACall() {
  const Lapack &lapack = Lapack::instance();
  if (!lapack.set_threads || !lapack.get_threads) return;
  const std::lock_guard lock(mutex_);
  if (alive_++ > 0) return;
  before_ = lapack.get_threads();
  if (before_ != 1) lapack.set_threads(1);
}

OneThreadACall::~OneThreadACall() {
  const Lapack &lapack = Lapack::instance();
  if (!lapack.set_threads || !lapack.get_threads) return;
  const std::lock_guard lock(mutex_);
  if (--alive_ == 0 && before_ != 1) lapack.set_threads(before_);
}

}  // namespace sextant::hermitian_lapack
