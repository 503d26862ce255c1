// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/array_products.hpp"

#include <algorithm>
#include <cstdint>

#include "core/base/types.hpp"
#include "core/context/context.hpp"
#include "core/device/stage.hpp"

namespace sextant {

namespace {

// A call of the host that starts a copy and waits for it.
constexpr double copy_call_s = 8e-6;
constexpr std::size_t most_answers = 64;  // operations and numbers of columns that are remembered

bool on_host(const Matrix &matrix, const void *array, const char *name) {
  return !in_place(matrix.context().device(), array, value_bytes(matrix.value_type()), name);
}

}  // namespace

Products &ArrayProducts::serving(Products &there, sxt_op op, const void *x, const void *y,
                                 const Products::Columns &columns) {
  Context &context = matrix_->context();
  if (!context.weighs_devices() || !x || !y) return there;
  if (!on_host(*matrix_, x, "x") || !on_host(*matrix_, y, "y")) return there;
  const std::lock_guard lock(mutex_);
  if (!here_) {
    std::shared_ptr<Matrix> twin = matrix_->twin();
    if (!twin) return there;
    here_ = std::make_unique<Products>(std::move(twin));
  }
  if (epoch_ != context.epoch() || sooner_.size() >= most_answers) sooner_.clear();
  epoch_ = context.epoch();
  const std::pair which{op, columns.count};
  auto known = sooner_.find(which);
  if (known == sooner_.end()) known = sooner_.emplace(which, sooner_here(there, *here_, op, columns.count)).first;
  return known->second ? *here_ : there;
}

bool ArrayProducts::sooner_here(Products &there, Products &here, sxt_op op, std::int64_t columns) {
  Context &context = matrix_->context();
  if (context.plan().loaded()) {
    const std::shared_ptr<Matrix> twin = matrix_->twin();
    return twin && twin->context().plan().knows(SXT_KIND_SPMV, twin->pattern_hash());
  }
  const sxt_machine &machine = context.machine();
  const double values = static_cast<double>(matrix_->rows() + matrix_->cols()) * static_cast<double>(columns);
  const double ways_s = 2 * copy_call_s + values * static_cast<double>(value_bytes(matrix_->value_type())) /
                                              std::max(1.0, machine.copy_rate);
  try {
    const double here_s = here.predicted_seconds(op, columns);
    // Asking the device brings the matrix there.
    if (here_s <= ways_s + machine.launch_s) return true;
    return here_s < ways_s + there.predicted_seconds(op, columns);
  } catch (const Error &problem) {
    if (problem.status() != SXT_E_NO_KERNEL && problem.status() != SXT_E_MEMORY) throw;
    return false;
  }
}

}  // namespace sextant
