// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/placed.hpp"

#include <algorithm>
#include <cstdint>

#include "core/base/types.hpp"
#include "core/choose/placement.hpp"
#include "core/device/stage.hpp"
#include "core/explain/explain.hpp"
#include "core/model/cost.hpp"

namespace sextant {

namespace {

// Before anything is planned: a short solve, which a CPU begins at once and a device does not.
constexpr double few_iterations_there = 10;
// Bytes that an iteration moves at least: an entry with its column, and vectors.
constexpr double index_bytes_at_least = 4, vectors_an_iteration = 5;

double iteration_bytes(const Matrix &matrix) {
  const auto each = static_cast<double>(value_bytes(matrix.value_type()));
  return static_cast<double>(matrix.csr().nnz) * (each + index_bytes_at_least) +
         static_cast<double>(matrix.rows()) * each * vectors_an_iteration;
}

double pass_seconds(const Matrix &matrix, const sxt_machine &machine) {
  const double bytes = iteration_bytes(matrix);
  return bytes / std::max(1.0, stream_rate(machine, bytes, machine.units));
}

}  // namespace

PlacedSolver::PlacedSolver(std::shared_ptr<Matrix> matrix, const PcgSettings &settings)
    : matrix_(std::move(matrix)), settings_(settings) {
  // A named engine or format says where to run; a null space is read now and not kept for a second set-up.
  const bool open = settings_.engine.empty() && settings_.format.empty() && settings_.null_space_size == 0;
  if (open && matrix_->context().weighs_devices() && could_win_here()) weigh();
  if (!host_ && !device_) device_ = std::make_unique<PcgSolver>(matrix_, settings_);
  settings_.null_space = nullptr;
}

bool PlacedSolver::could_win_here() const {
  const std::shared_ptr<Context> beside = matrix_->context().companion();
  return beside &&
         few_iterations_there * pass_seconds(*matrix_, beside->machine()) <= least_there_seconds(few_iterations_there);
}

// b to the device and x back.
double PlacedSolver::ways_seconds() const {
  const double bytes =
      2 * static_cast<double>(matrix_->rows()) * static_cast<double>(value_bytes(matrix_->value_type()));
  return sextant::ways_seconds(matrix_->context().machine(), bytes, 2);
}

// No solve on the device ends sooner: one launch, one read of the matrix and one barrier an iteration.
double PlacedSolver::least_there_seconds(double iterations) const {
  const sxt_machine &machine = matrix_->context().machine();
  return ways_seconds() + machine.launch_s + iterations * (machine.barrier_s + pass_seconds(*matrix_, machine));
}

void PlacedSolver::weigh() {
  const std::shared_ptr<Matrix> twin = matrix_->twin();
  if (!twin) return;
  PlanBook &plan = twin->context().plan();
  const PlanKey key{"pcg", SXT_KIND_PCG, 0, twin->pattern_hash()};
  const bool planned = matrix_->context().plan().loaded();
  if (planned && !plan.placed(key)) return;
  try {
    host_ = std::make_unique<PcgSolver>(twin, settings_);
  } catch (const Error &problem) {  // what is wrong with the matrix is said by the device's own set-up
    require(!planned || !matrix_->context().plan().required(), problem.status(), problem.what());
    matrix_->context().log()(SXT_LOG_INFO, text("no set-up on the CPU: ", problem.what()));
    return;
  }
  if (planned) {
    plan.place(key);
    why_ = "arrays in host memory are solved for on the CPU: the loaded plan says so";
    return;
  }
  const Placement found =
      sextant::weigh(host_->predicted_seconds(), least_there_seconds(host_->expected_iterations()), [&] {
        device_ = std::make_unique<PcgSolver>(matrix_, settings_);
        return ways_seconds() + device_->predicted_seconds();
      });
  why_ = placement_text(found, "arrays in host memory are solved for", matrix_->context().device_name(), "b and x");
  matrix_->context().log()(SXT_LOG_INFO, why_);
  found.here ? plan.place(key) : host_.reset();
}

PcgSolver &PlacedSolver::on_device() {
  const std::lock_guard lock(mutex_);
  if (!device_) device_ = std::make_unique<PcgSolver>(matrix_, settings_);
  return *device_;
}

PcgSolver &PlacedSolver::for_arrays(const void *b, const void *x) {
  if (!host_ || !matrix_->context().weighs_devices()) return on_device();
  const std::uint64_t element = value_bytes(matrix_->value_type());
  HostArrays arrays(matrix_->context().device());
  if (b && x && !arrays.add(b, element, "b").add(x, element, "x").all_on_host()) return on_device();
  arrays.wait();
  return *host_;
}

Explanation PlacedSolver::explain() const {
  Explanation out = planned().explain();
  if (!why_.empty()) out.notes.push_back(why_);
  return out;
}

}  // namespace sextant
