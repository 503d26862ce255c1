// SPDX-License-Identifier: BSD-3-Clause
// Timing runs under test, and counting allocations that pass by the host's table.
#include "core/conformance/cost.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/conformance/conformance.hpp"
#include "core/model/cost.hpp"

namespace sextant::conformance {
namespace {

constexpr double told_apart_s = 1e-6;  // a run shorter than that is told from nothing by no clock
constexpr double batch_s = 2e-5;       // on the host runs are timed together up to here
constexpr double queued_s = 2e-4;      // on a stream up to here
constexpr int batches = 3, most_in_batch = 64, counted_runs = 3;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Seconds of so many runs and of the wait for them, where there is one to wait for.
double seconds_of(Lending &lending, const sxt_bound &bound, const sxt_head *args, int runs) {
  const sxt_exec &exec = lending.exec();
  const double start = now();
  for (int i = 0; i < runs; ++i) lending.run(bound, args);
  if (exec.stream) lending.call().check(exec.host->synchronize(exec.host, &exec), bound.kernel, "run");
  return now() - start;
}

// Of a few the best, so that what else the machine does counts little.
double best_of(Lending &lending, const sxt_bound &bound, const sxt_head *args, int runs) {
  double best = std::numeric_limits<double>::infinity();
  for (int batch = 0; batch < batches; ++batch) best = std::min(best, seconds_of(lending, bound, args, runs));
  return best;
}

// No model includes a caller's wait for a stream, so that K runs and 2K runs are timed with one wait each:
// the difference is what K runs take. Where it is lost in the wait, more runs are taken. One launch is
// subtracted: it is the device's, not the model's.
double queued_run_s(Lending &lending, const sxt_bound &bound, const sxt_head *args, double once_s, double launch_s) {
  int runs = static_cast<int>(std::clamp(queued_s / once_s, 1.0, double{most_in_batch}));
  for (;; runs *= 4) {
    const double fewer_s = best_of(lending, bound, args, runs), more_s = best_of(lending, bound, args, 2 * runs);
    if (more_s - fewer_s >= fewer_s / 4 || runs * 4 > most_in_batch) return (more_s - fewer_s) / runs - launch_s;
  }
}

// Seconds of one run. A first one, with its wait, is never too little: where it is not long beside the prediction,
// nothing finer is asked.
double seconds_of_run(Lending &lending, const sxt_bound &bound, const sxt_head *args, double let_pass_s) {
  const double once_s = seconds_of(lending, bound, args, 1);
  if (once_s <= let_pass_s) return once_s;
  if (lending.exec().stream)
    return queued_run_s(lending, bound, args, once_s, lending.call().device->machine().launch_s);
  const int runs = static_cast<int>(std::clamp(batch_s / once_s, 1.0, double{most_in_batch}));
  return std::min(once_s, best_of(lending, bound, args, runs) / runs);
}

// The counter that a process may offer, as `sextant plugin check` does: allocations by malloc and new in any thread so
// far. NULL: nothing counts.
using Counter = std::uint64_t (*)();
Counter counter() {
  static const auto found = reinterpret_cast<Counter>(dlsym(RTLD_DEFAULT, "sxt_count_allocations"));
  return found;
}

}  // namespace

double CostCheck::Run::ratio() const { return measured_s / std::max(predicted_s, 1e-300); }

void CostCheck::measure(Lending &lending, const sxt_bound &bound, const sxt_head *args, const Fitted &fitted,
                        std::size_t candidate, const std::string &where) {
  const sxt_kernel &table = fitted.kernel().table;
  // Parts of a composed kernel have no predictions here, and a kernel without a model promises nothing.
  if (table.n_slots > 0 || !table.candidates) return;
  if (!every_run_ && !ratios_.empty() && nearest_.ratio() <= gross_cost_factor) return;  // nothing is held against it
  const double predicted =
      predict(table, *fitted.query().get(), fitted.candidates()[candidate], lending.call().device->machine(), Profile{})
          .seconds;
  if (!(predicted >= 0) || std::isinf(predicted)) return;  // out of the choice, as a feature is not there, say
  const Run run{predicted, seconds_of_run(lending, bound, args, every_run_ ? 0 : gross_cost_factor * predicted)};
  if (run.measured_s < told_apart_s) return;
  const auto distance = [](const Run &each) { return std::abs(std::log(each.ratio())); };
  if (ratios_.empty() || run.ratio() < nearest_.ratio()) nearest_ = run;
  if (ratios_.empty() || distance(run) > distance(farthest_)) {
    farthest_ = run;
    farthest_where_ = where;
  }
  ratios_.push_back(run.ratio());
}

std::string CostCheck::problem() const {
  if (ratios_.empty() || nearest_.ratio() <= gross_cost_factor) return "";
  return text("its model is grossly wrong: where it is nearest it predicts ", nearest_.predicted_s,
              " s for a run that takes ", nearest_.measured_s, " s, ", nearest_.ratio(), " times as long; up to ",
              gross_cost_factor, " times is let pass");
}

std::string CostCheck::told() const {
  if (ratios_.empty()) return "";
  std::vector<double> sorted = ratios_;
  std::sort(sorted.begin(), sorted.end());
  return text("runs took ", sorted.front(), " to ", sorted.back(), " times as long as predicted, the median of ",
              sorted.size(), " is ", sorted[sorted.size() / 2], "; farthest off: ", farthest_where_, ", predicted ",
              farthest_.predicted_s, " s, took ", farthest_.measured_s, " s");
}

bool counts_allocations() { return counter() != nullptr; }

std::uint64_t Lending::foreign_allocations(const sxt_bound &bound, const sxt_head *args) {
  // A thread that the pool has just made may prepare its storage in one of the runs: no allocation of the kernel's.
  const int runs = counted_runs + std::max(0, exec_.threads - 1);
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < runs && least > 0; ++i) {
    const std::uint64_t before = counter()();
    run(bound, args);
    least = std::min(least, counter()() - before);
  }
  return least;
}

}  // namespace sextant::conformance
