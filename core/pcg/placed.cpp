// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/placed.hpp"

#include <algorithm>
#include <cstdint>

#include "core/base/types.hpp"
#include "core/device/stage.hpp"
#include "core/explain/explain.hpp"
#include "core/model/cost.hpp"
#include "core/pcg/clock.hpp"

namespace sextant {

namespace {

// Before anything is planned: a short solve, which a CPU begins at once and a device does not.
constexpr double few_iterations = 10;
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
  return beside && few_iterations * pass_seconds(*matrix_, beside->machine()) <= least_there_seconds(few_iterations);
}

// b to the device and x back.
double PlacedSolver::ways_seconds() const {
  const double bytes =
      2 * static_cast<double>(matrix_->rows()) * static_cast<double>(value_bytes(matrix_->value_type()));
  return 2 * call_on_device_s + bytes / std::max(1.0, matrix_->context().machine().copy_rate);
}

// No solve on the device ends sooner: one launch, one read of the matrix and one barrier an iteration.
double PlacedSolver::least_there_seconds(double iterations) const {
  const sxt_machine &machine = matrix_->context().machine();
  return ways_seconds() + machine.launch_s + iterations * (machine.barrier_s + pass_seconds(*matrix_, machine));
}

void PlacedSolver::weigh() {
  const std::shared_ptr<Matrix> twin = matrix_->twin();
  if (!twin) return;
  const bool planned = matrix_->context().plan().loaded();
  if (planned && !twin->context().plan().knows(SXT_KIND_PCG, twin->pattern_hash())) return;
  try {
    host_ = std::make_unique<PcgSolver>(twin, settings_);
  } catch (const Error &problem) {  // what is wrong with the matrix is said by the device's own set-up
    require(!planned || !matrix_->context().plan().required(), problem.status(), problem.what());
    matrix_->context().log()(SXT_LOG_INFO, text("no set-up on the CPU: ", problem.what()));
    return;
  }
  if (planned) {
    why_ = "arrays in host memory are solved for on the CPU: the loaded plan says so";
    return;
  }
  const double here_s = host_->predicted_seconds(), iterations = host_->expected_iterations();
  double there_s = least_there_seconds(iterations);
  bool sooner = here_s <= there_s;
  if (!sooner) {
    device_ = std::make_unique<PcgSolver>(matrix_, settings_);
    there_s = ways_seconds() + device_->predicted_seconds();
    sooner = here_s < there_s;
  }
  why_ = text("arrays in host memory are solved for on the ", sooner ? "CPU" : "device", ": ", seconds_text(here_s),
              " predicted on the CPU, ", device_ ? "" : "at least ", seconds_text(there_s), " on ",
              matrix_->context().device_name(), " with b and x copied");
  matrix_->context().log()(SXT_LOG_INFO, why_);
  if (!sooner) host_.reset();
}

PcgSolver &PlacedSolver::on_device() {
  const std::lock_guard lock(mutex_);
  if (!device_) device_ = std::make_unique<PcgSolver>(matrix_, settings_);
  return *device_;
}

PcgSolver &PlacedSolver::for_arrays(const void *b, const void *x) {
  if (!host_ || !matrix_->context().weighs_devices()) return on_device();
  const std::uint64_t element = value_bytes(matrix_->value_type());
  const Device &device = matrix_->context().device();
  const bool here = !b || !x || (!in_place(device, b, element, "b") && !in_place(device, x, element, "x"));
  return here ? *host_ : on_device();
}

Explanation PlacedSolver::explain() const {
  Explanation out = planned().explain();
  if (!why_.empty()) out.notes.push_back(why_);
  return out;
}

}  // namespace sextant
