// SPDX-License-Identifier: BSD-3-Clause
// Measuring candidates of a product on the real matrix: for races and for the verification of models.
#pragma once

#include <memory>

#include "core/matrix/matrix.hpp"
#include "core/model/timing.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant {

// Vectors to multiply with, and the args of a run. One for all candidates of a query.
class TrialProduct {
 public:
  static bool possible(const Query &query);  // a product with a matrix
  TrialProduct(Context &context, const Query &query);
  sxt_head *args() noexcept { return &args_.h; }

 private:
  DeviceBuffer x_, y_;
  alignas(2 * sizeof(double)) double one_[2] = {1, 0};  // as AlignedScalar
  alignas(2 * sizeof(double)) double zero_[2] = {0, 0};
  alignas(2 * sizeof(double)) float one_f_[2] = {1, 0};
  alignas(2 * sizeof(double)) float zero_f_[2] = {0, 0};
  sxt_spmv_args args_{};
};

struct Trial {
  double storage_s = 0, setup_s = 0;  // measured: building the storage (0 when it was held), and prepare
  bool built_storage = false;         // the matrix holds it now because of this trial
  Timing run;
};

// Builds, runs and measures a candidate for about budget_s (beside what building takes). Throws what a kernel fails
// with.
Trial measure(Context &context, const ChoicePtr &choice, Matrix &matrix, TrialProduct &product, double budget_s);

}  // namespace sextant
