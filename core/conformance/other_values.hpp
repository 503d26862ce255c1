// SPDX-License-Identifier: BSD-3-Clause
// What a suite does to a case beside running it: its matrix with other values first, and a second vector.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/conformance/bench.hpp"
#include "sextant/plugin/kinds/storage.h"

namespace sextant::conformance {

// A case with half its matrix's values, until they are put right. The case it was made of must outlive it.
class HalvedCase {
 public:
  // NULL: the case is about no matrix, or an empty one.
  static std::unique_ptr<HalvedCase> of(const sxt_case &given);
  const sxt_case &get() const noexcept { return case_; }
  void put_right();

 private:
  explicit HalvedCase(const sxt_case &given);
  const sxt_csr &given_;
  sxt_csr csr_;
  std::vector<char> values_;
  sxt_case case_;
};

// Whether v'(M u) and the conjugate of u'(M v) agree, as an M that is Hermitian has it: u is the r of the case, v is u
// in another order. Throws SXT_E_PLUGIN where they do not. The case's kind is SXT_KIND_PRECONDITIONER, its arrays on
// the host, and `run` answers such a case.
void check_mutual(Case &first, Case &second, const std::function<void(Case &)> &run);

}  // namespace sextant::conformance
