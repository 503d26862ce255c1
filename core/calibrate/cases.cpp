// SPDX-License-Identifier: BSD-3-Clause
// Kinds that core knows nothing of: their own cases, and one multiplier a kernel where they give estimates.
#include <cstdint>

#include "core/calibrate/sampler.hpp"
#include "core/conformance/bench.hpp"
#include "core/context/context.hpp"
#include "core/model/timing.hpp"

namespace sextant {

namespace {

using registry::Registry;

void measure_case(Context &context, const registry::Kind &kind, const registry::Kernel &kernel, std::uint64_t i,
                  Sampler &sampler) {
  const conformance::Case problem(kind, 1, i);
  conformance::Bench bench(context.scope(), context.device(), problem.get(), context.threads());
  const Query query(problem.get().query);
  for (const std::string &storage : bench.storages_for(kernel)) {
    conformance::Fitted fitted(bench, kernel, query, storage);
    for (std::size_t c = 0; c < fitted.candidates().size(); ++c) {
      // Every candidate on a case of its own: runs change their operands.
      conformance::Case own(kind, 1, i);
      fitted.prepare(c);
      {
        conformance::Lending lending(context.device(), fitted.bound().scratch_bytes, context.threads(), 0);
        own.move(lending.exec(), true);
        const conformance::Opened opened(fitted);
        const Timing timing = time_runs([&] { lending.run(opened.bound(), own.args()); }, 1e-3, 3);
        sampler.add_run(kernel.table, *query.get(), fitted.candidates()[c], timing.seconds, static_cast<int>(i));
      }
      fitted.release();
    }
  }
}

}  // namespace

void calibrate_cases(Context &context, const CalibrationClock &clock, Sampler &sampler, const std::string &kind_id,
                     double until) {
  const registry::Kind *kind = context.scope().kind(kind_id);
  if (!kind || !kind->table.make_case) return;
  for (std::uint64_t i = 0; i < kind->table.n_cases; ++i)
    for (const registry::Kernel *kernel : context.scope().kernels(kind_id, context.device_name())) {
      if (kernel->has(SXT_KERNEL_REFERENCE) || !kernel->table.candidates) continue;
      if (clock.elapsed() > until) return;
      clock.report(text(kernel->name(), ", case ", i + 1, " of ", kind->table.n_cases));
      try {
        measure_case(context, *kind, *kernel, i, sampler);
      } catch (const Error &) {  // it declined the case
      }
    }
}

}  // namespace sextant
