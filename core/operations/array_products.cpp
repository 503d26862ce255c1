// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/array_products.hpp"

#include <cstdint>
#include <string>

#include "core/base/shortage.hpp"
#include "core/base/types.hpp"
#include "core/choose/placement.hpp"
#include "core/context/context.hpp"
#include "core/device/stage.hpp"

namespace sextant {

namespace {

constexpr std::size_t most_answers = 64;  // operations and numbers of columns that are remembered

}  // namespace

Products &ArrayProducts::serving(Products &there, sxt_op op, const void *x, const void *y,
                                 const Products::Columns &columns) {
  Context &context = matrix_->context();
  if (!context.weighs_devices() || !x || !y) return there;
  HostArrays arrays(context.device());
  const std::uint64_t element = value_bytes(matrix_->value_type());
  if (!arrays.add(x, element, "x").add(y, element, "y").all_on_host()) return there;
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
  if (!known->second) return there;
  arrays.wait();
  return *here_;
}

bool ArrayProducts::sooner_here(Products &there, Products &here, sxt_op op, std::int64_t columns) {
  Context &context = matrix_->context();
  const std::shared_ptr<Matrix> twin = matrix_->twin();
  if (!twin) return false;
  PlanBook &plan = twin->context().plan();
  const PlanKey key{"spmv", SXT_KIND_SPMV, here.query_hash(op, columns), matrix_->pattern_hash()};
  // What the loaded plan says nothing of is weighed.
  if (plan.placed(key)) return plan.place(key), true;
  std::string why_not;
  if (context.plan().required() || context.plan().find(key, "", context.fingerprint(), why_not)) return false;
  const sxt_machine &machine = context.machine();
  const double values = static_cast<double>(matrix_->rows() + matrix_->cols()) * static_cast<double>(columns);
  const double ways_s = ways_seconds(machine, values * static_cast<double>(value_bytes(matrix_->value_type())), 2);
  try {
    // Asking the device brings the matrix there.
    const Placement found = weigh(here.predicted_seconds(op, columns), ways_s + machine.launch_s,
                                  [&] { return ways_s + there.predicted_seconds(op, columns); });
    if (found.here) plan.place(key);
    return found.here;
  } catch (const Error &problem) {
    if (problem.status() != SXT_E_NO_KERNEL && !out_of_memory(problem)) throw;
    return false;
  }
}

}  // namespace sextant
