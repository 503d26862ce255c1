// SPDX-License-Identifier: BSD-3-Clause
// Timing runs under test, and counting allocations that pass by the host's table.
#include "core/registry/conformance_cost.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "core/model/cost.hpp"
#include "core/registry/conformance.hpp"

namespace sextant::registry {
namespace {

constexpr double told_apart_s = 1e-6;  // a run shorter than that is told from nothing by no clock
constexpr double batch_s = 2e-5;       // runs are timed together up to here
constexpr int batches = 3, most_in_batch = 64, counted_runs = 3;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Seconds of one run: of a few batches the best, so that what else the machine does counts little.
double seconds_of(Lending &lending, const sxt_bound &bound, const sxt_head *args) {
  double best = std::numeric_limits<double>::infinity();
  for (int batch = 0; batch < batches; ++batch) {
    const double start = now();
    double took = 0;
    int runs = 0;
    while (took < batch_s && runs < most_in_batch) {
      lending.run(bound, args);
      ++runs;
      if (lending.exec().stream) lending.exec().host->synchronize(lending.exec().host, &lending.exec());
      took = now() - start;
    }
    best = std::min(best, took / runs);
  }
  return best;
}

// The counter that a process may offer, as `sextant plugin check` does: allocations by malloc and new in any thread so
// far. NULL: nothing counts.
using Counter = std::uint64_t (*)();
Counter counter() {
  static const auto found = reinterpret_cast<Counter>(dlsym(RTLD_DEFAULT, "sxt_count_allocations"));
  return found;
}

}  // namespace

void CostCheck::measure(Lending &lending, const sxt_bound &bound, const sxt_head *args, const Fitted &fitted,
                        std::size_t candidate) {
  const sxt_kernel &table = fitted.kernel().table;
  // Parts of a composed kernel have no predictions here, and a kernel without a model promises nothing.
  if (table.n_slots > 0 || !table.candidates) return;
  if (any_ && least_ratio_ <= gross_cost_factor) return;  // nothing is held against it any more
  const double predicted = predict(table, *fitted.query().get(), fitted.candidates()[candidate],
                                   static_cast<const Call *>(lending.exec().call)->device->machine(), Profile{})
                               .seconds;
  const double measured = seconds_of(lending, bound, args);
  if (measured < told_apart_s) return;
  const double ratio = measured / std::max(predicted, 1e-300);
  if (any_ && ratio >= least_ratio_) return;
  any_ = true;
  least_ratio_ = ratio;
  predicted_s_ = predicted;
  measured_s_ = measured;
}

std::string CostCheck::problem() const {
  if (!any_ || least_ratio_ <= gross_cost_factor) return "";
  return text("its model is grossly wrong: where it is nearest it predicts ", predicted_s_, " s for a run that takes ",
              measured_s_, " s, ", least_ratio_, " times as long; up to ", gross_cost_factor, " times is let pass");
}

std::uint64_t Lending::foreign_allocations(const sxt_bound &bound, const sxt_head *args) {
  if (!counter()) return 0;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < counted_runs && least > 0; ++i) {
    const std::uint64_t before = counter()();
    run(bound, args);
    least = std::min(least, counter()() - before);
  }
  return least;
}

}  // namespace sextant::registry
