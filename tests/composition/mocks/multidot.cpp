// SPDX-License-Identifier: BSD-3-Clause
// multidot.deferred: inner products into device memory, with partial sums in the scratch it is lent; multidot.unpriced:
// the same without a performance model.
#include <cstdint>
#include <vector>

#include "mock_kernel.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

namespace {

constexpr std::uint64_t scratch_bytes = SXT_MULTIDOT_MAX * sizeof(double);

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const double run_s = 4e-7 + 0.4e-9 * static_cast<double>(as<sxt_multidot_query>(query).n);
  return mock::one_price(out, capacity, count, run_s, 0, scratch_bytes);
}

sxt_status run_with(const sxt_multidot_args &args, double *partial, const sxt_exec *exec) {
  return guard(exec, [&] {
    if (const sxt_status wrong = mock::expect_device(exec, "result", args.result)) return wrong;
    // The arrays of pointers are the caller's host memory: read now.
    const std::vector<const void *> u(args.u, args.u + args.n_dots), v(args.v, args.v + args.n_dots);
    return mock::launch(exec->stream, [args, u, v, partial] {
      for (std::size_t d = 0; d < u.size(); ++d)
        partial[d] = mock::dot(args.n, static_cast<const double *>(u[d]), static_cast<const double *>(v[d]));
      if (partial != args.result) std::copy_n(partial, u.size(), static_cast<double *>(args.result));
    });
  });
}

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  if (exec->scratch_bytes < scratch_bytes)
    return error(exec, SXT_E_ARGUMENT, "%llu bytes of scratch were lent, the candidate asked for %llu",
                 (unsigned long long)exec->scratch_bytes, (unsigned long long)scratch_bytes);
  if (const sxt_status wrong = mock::expect_device(exec, "scratch", exec->scratch)) return wrong;
  return run_with(as<sxt_multidot_args>(head), static_cast<double *>(exec->scratch), exec);
}

sxt_status run_unpriced(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_multidot_args>(head);
  return run_with(args, static_cast<double *>(args.result), exec);
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_MULTIDOT, "multidot.deferred", "deferred", "inner products", run);
  k.flags = SXT_KERNEL_CAPTURABLE | SXT_KERNEL_DETERMINISTIC;
  k.value_types = type_bit(SXT_F64);
  k.candidates = candidates;
  return k;
}();

const sxt_kernel unpriced = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_MULTIDOT, "multidot.unpriced", "deferred", "inner products, no estimate", run_unpriced);
  k.flags = SXT_KERNEL_CAPTURABLE | SXT_KERNEL_DETERMINISTIC;
  k.value_types = type_bit(SXT_F64);
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel, &unpriced>("hard-multidot", out);
}
