// SPDX-License-Identifier: BSD-3-Clause
// Products with one matrix: a kernel is chosen at the first call for each (operation, vector type) and kept.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "core/dispatch/prepared.hpp"
#include "core/matrix/matrix.hpp"

namespace sextant {

// Thread-safe.
class Products {
 public:
  explicit Products(std::shared_ptr<Matrix> matrix);

  // y = alpha op(A) x + beta y on device space; alpha, beta: host scalars of the matrix's type, or NULL for 1 and 0.
  void multiply(sxt_op op, const void *alpha, const void *x, const void *beta, void *y);
  // The same on the caller's arrays: those that the device does not reach have copies there for the call, which waits.
  void multiply_arrays(sxt_op op, const void *alpha, const void *x, const void *beta, void *y);

 private:
  std::shared_ptr<Runner> runner(sxt_op op);
  std::shared_ptr<Runner> make_runner(sxt_op op);
  std::shared_ptr<Runner> first_that_fits(const Query &query);  // NULL: nothing does

  const std::uint64_t id_;  // never used twice in a process
  std::shared_ptr<Matrix> matrix_;
  std::mutex mutex_;
  std::uint64_t epoch_ = 0;
  std::map<sxt_op, std::shared_ptr<Runner>> runners_;
};

}  // namespace sextant
