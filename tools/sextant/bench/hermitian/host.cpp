// SPDX-License-Identifier: BSD-3-Clause
// LAPACK on one CPU thread, to which GPUs are often compared: a sample of a set's systems, scaled to all.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "bench/hermitian/hermitian.hpp"

namespace tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double sample_flops = 4e9;  // multiply-adds of one pass over the sample: some tenths of a second
constexpr double sample_elements = 1 << 24;
constexpr int pass_count = 3;  // after one that does not count; the median is reported

// This many systems of the case, large and small orders in their proportion.
HermitianCase sample_of(const HermitianCase &problem, const HermitianBenchOptions &options) {
  const double each =
      problem.flops(is_complex(type_named(options.type)), options.n_rhs) / static_cast<double>(problem.batch);
  const double order = static_cast<double>(problem.n);
  HermitianCase sample = problem;
  const double most = std::min(sample_flops / each, sample_elements / (order * order));
  sample.batch = std::min(problem.batch, std::max<std::int64_t>(2, static_cast<std::int64_t>(most)));
  if (!sample.orders.empty()) sample.orders.resize(static_cast<std::size_t>(sample.batch));
  return sample;
}

}  // namespace

double seconds_on_one_thread(const HermitianBenchOptions &options, const HermitianCase &problem) {
  HermitianBenchOptions on_host = options;
  on_host.context.device = "cpu";
  on_host.context.threads = 1;
  on_host.context.profile.clear();  // of the GPU
  const Context context = open_context(on_host.context);
  const HermitianCase sample = sample_of(problem, options);
  sxt_hermitian_options description = hermitian_description(options, sample);
  description.kernel = "hermitian.lapack.cpu";
  sxt_hermitian *made = nullptr;
  check(sxt_hermitian_create(context.get(), &description, &made), context.get());
  const HermitianHandle handle(made);
  const HermitianBenchSet set(context.get(), on_host, sample);
  const sxt_hermitian_set plain = set.plain();
  std::vector<double> seconds;
  for (int pass = 0; pass <= pass_count; ++pass) {
    set.restore();
    if (sample.phase == "solve") check(sxt_hermitian_factor(handle.get(), &plain), context.get());
    const auto start = Clock::now();
    check(sample.phase == "factor"  ? sxt_hermitian_factor(handle.get(), &plain)
          : sample.phase == "solve" ? sxt_hermitian_solve(handle.get(), &plain)
                                    : sxt_hermitian_factor_solve(handle.get(), &plain),
          context.get());
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(seconds.begin() + 1, seconds.end());
  // By flops, since the sample's orders are a part of those there are.
  const bool complex = is_complex(type_named(options.type));
  return seconds[1 + pass_count / 2] * problem.flops(complex, options.n_rhs) / sample.flops(complex, options.n_rhs);
}

}  // namespace tool
