// SPDX-License-Identifier: BSD-3-Clause
// Products with one matrix: a kernel is chosen at the first call for each operation and number of columns, and kept.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "core/choose/selector.hpp"
#include "core/matrix/matrix.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant {

// Thread-safe.
class Products : private ValuesFollower {
 public:
  explicit Products(std::shared_ptr<Matrix> matrix);
  ~Products();
  Products(const Products &) = delete;
  Products &operator=(const Products &) = delete;

  static constexpr std::int32_t most_columns = 32;  // that one kernel is asked to take

  // Columns of x and of y, ldx and ldy values apart.
  struct Columns {
    std::int64_t count = 1, ldx = 0, ldy = 0;
  };
  // y = alpha op(A) x + beta y on device space; alpha, beta: host scalars of the matrix's type, or NULL for 1 and 0.
  void multiply(sxt_op op, const void *alpha, const void *x, const void *beta, void *y);
  void multiply(sxt_op op, const void *alpha, const void *x, const void *beta, void *y, const Columns &columns);
  // The same on the caller's arrays: those that the device does not reach have copies there for the call, which waits.
  void multiply_arrays(sxt_op op, const void *alpha, const void *x, const void *beta, void *y, const Columns &columns);
  // Predicted seconds of a product with so many columns, its set-up spread over the products that are expected.
  double predicted_seconds(sxt_op op, std::int64_t columns);
  // What serves products with one column; chosen and built where no product was asked for yet.
  ChoicePtr choice(sxt_op op) { return runner(op, 1)->prepared().shared_choice(); }
  std::uint64_t query_hash(sxt_op op, std::int64_t columns) const;  // of the pass that is asked for
  // One column, as long as the matrix has it.
  Columns column(sxt_op op) const noexcept;

 private:
  void values_changed() noexcept override;
  std::shared_ptr<Runner> runner(sxt_op op, std::int32_t columns);
  std::shared_ptr<Runner> make_runner(sxt_op op, std::int32_t columns, LeftOut left_out);
  void run(sxt_op op, std::int32_t columns, sxt_head *args);
  sxt_spmv_query query(sxt_op op, std::int32_t columns) const;
  sxt_spmv_query query_of_pass(sxt_op op, std::int64_t columns) const;
  std::shared_ptr<Runner> first_that_fits(const Query &query);  // NULL: nothing does

  const std::uint64_t id_;  // never used twice in a process
  std::shared_ptr<Matrix> matrix_;
  std::mutex mutex_;
  std::uint64_t epoch_ = 0;
  std::map<std::pair<sxt_op, std::int32_t>, std::shared_ptr<Runner>> runners_;
};

}  // namespace sextant
