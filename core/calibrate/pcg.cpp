// SPDX-License-Identifier: BSD-3-Clause
// Samples of engines that carry out the steps of conjugate gradients themselves, on the synthetic families: their
// set-up, and some iterations of each, in each storage. An engine whose steps are other kernels is predicted by theirs.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/types.hpp"
#include "core/calibrate/families.hpp"
#include "core/calibrate/sampler.hpp"
#include "core/choose/selector.hpp"
#include "core/context/context.hpp"
#include "core/matrix/matrix.hpp"
#include "core/pcg/clock.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/pcg.h"

namespace sextant {

namespace {

// Entries: from what a core holds in its own caches to what none holds.
constexpr double solve_nnz[] = {2e3, 3e4, 8e3, 5e5, 1.5e4, 1.2e5, 4e3, 2e6, 6e4};
constexpr std::int64_t iterations = 16;     // of a run; no run is to converge earlier
constexpr double default_iterations = 100;  // of a solve that an engine is set up for
constexpr double least_set_up = 3e4;        // entries; below that a set-up costs little
constexpr double samples_a_matrix = 16, solve_sample_s = 1.5e-3, solve_seconds_an_entry = 60e-9;

// One right-hand side, and a solve of it that runs to its limit.
class Solve {
 public:
  Solve(Context &context, sxt_value_type type, std::int64_t n)
      : b_(context.device(), static_cast<std::uint64_t>(n * value_bytes(type))), x_(context.device(), b_.bytes()) {
    with_value_type(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      // No eigenvector of anything simple.
      for (std::int64_t i = 0; i < n; ++i) b_.as<T>()[i] = static_cast<T>(1.0 + 0.25 * static_cast<double>(i % 7));
      std::fill(x_.as<T>(), x_.as<T>() + n, T{});
    });
    args_.h = {sizeof args_, SXT_KIND_PCG};
    args_.n = n;
    args_.b = b_.data();
    args_.x = x_.data();
    args_.x_is_zero = 1;  // the residual begins with b in every run; x is not read afterwards
    args_.max_iterations = iterations;
    args_.observe = [](void *, std::int64_t, std::int64_t, const double *) -> sxt_reason { return SXT_REASON_NONE; };
    args_.confirm = [](void *, const void *, std::int64_t, double, double *, sxt_reason *) -> std::int32_t {
      return SXT_CONFIRM_GO_ON;
    };
  }
  sxt_head *head() { return &args_.h; }
  bool complete() const { return args_.reason == SXT_REASON_ITERATION_LIMIT && args_.iterations == iterations; }

 private:
  DeviceBuffer b_, x_;
  sxt_pcg_args args_{};
};

void measure_engines(Context &context, Matrix &matrix, Sampler &sampler, sxt_value_type type, int family) {
  sxt_pcg_query query{};
  query.m = matrix.query_part(SXT_KIND_PCG, sizeof query, 1);
  query.m.q.value_type = type;
  query.iterations = static_cast<double>(iterations);
  Selector selector(context, &matrix);
  Solve solve(context, type, matrix.rows());
  for (const ChoicePtr &choice : selector.every({Query(&query.m.q), "pcg"})) {
    if (!Sampler::wanted(*choice->kernel)) continue;
    try {
      // A matrix that is not definite, or too simple, ends it early.
      Runner runner(context, choice, &matrix);
      runner.run(solve.head());
      if (!solve.complete()) continue;
    } catch (const Error &) {  // it declined the matrix
      continue;
    }
    sxt_head *const head = solve.head();
    sampler.measure(choice, &matrix, {&head, 1}, family, solve_sample_s);
  }
}

// Engines of a device tell their seconds; how long the host sets them up is to be learnt. Each kernel's best candidate
// speaks for the others.
void measure_set_ups(Context &context, Matrix &matrix, Sampler &sampler, sxt_value_type type) {
  sxt_pcg_query query{};
  query.m = matrix.query_part(SXT_KIND_PCG, sizeof query, 1);
  query.m.q.value_type = type;
  query.iterations = default_iterations;
  Selector selector(context, &matrix);
  std::set<const registry::Kernel *> met;
  for (const ChoicePtr &choice : selector.every({Query(&query.m.q), "pcg"})) {
    if (!Sampler::wanted(*choice->kernel) || !met.insert(choice->kernel).second) continue;
    try {
      Prepared(context, choice, &matrix, nullptr);  // loads code and builds the storage
      const Clock clock;
      const Prepared again(context, choice, &matrix, nullptr);
      sampler.add_setup(choice->kernel->table, *choice->query.get(), choice->candidate, clock.seconds());
    } catch (const Error &) {  // it declined the matrix
    }
  }
}

}  // namespace

void calibrate_pcg(Context &context, const CalibrationSettings &settings, const CalibrationClock &clock,
                   Sampler &sampler, sxt_value_type type, double until) {
  const int n_sizes = static_cast<int>(std::size(solve_nnz));
  const bool on_host = context.device().on_host();
  for (int pass = 0; pass < n_sizes; ++pass)
    for (int family = 0; family < family_count(); ++family) {
      const double nnz = solve_nnz[(2 * family + 4 * pass) % n_sizes];
      if (!on_host && nnz < least_set_up) continue;
      const double left = until - clock.elapsed();
      if (left <= 0) return;
      const double run_s = nnz * iterations * 12 / context.machine().stream_rate;
      const double cost = nnz * solve_seconds_an_entry + samples_a_matrix * (solve_sample_s + 7 * run_s);
      if (cost > 0.35 * left || nnz * 12 > settings.most_bytes) continue;
      clock.report(text("conjugate gradients ", value_name(type), ", ", family_name(family), " with ",
                        static_cast<std::int64_t>(nnz), " entries"));
      Matrix matrix(context.shared_from_this(),
                    make_family_matrix(family, static_cast<std::int64_t>(nnz), type, context.allocator()),
                    family_symmetric(family) ? SXT_SYMMETRIC : SXT_GENERAL);
      if (on_host)
        measure_engines(context, matrix, sampler, type, family);
      else
        measure_set_ups(context, matrix, sampler, type);
    }
}

}  // namespace sextant
