// SPDX-License-Identifier: BSD-3-Clause
// A third party's fused product and inner products on diagonals: one pass that may be captured, and a cheaper one that
// may not, because it reads its scalars when it is enqueued. Knobs: "fused.refuse", "fused.factor".
#include <cstdint>
#include <vector>

#include "mock_kernel.hpp"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

namespace {

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  if (mock::knob("fused.refuse", 0) != 0) return refuse(reason, "the fused product has its day off");
  return mock::plain_product(as<sxt_spmv_dots_query>(query).m, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const double n = static_cast<double>(as<sxt_matrix_query>(query).rows);
  return mock::one_price(out, capacity, count, mock::knob("fused.factor", 1) * (5e-7 + 0.9e-9 * n));
}

sxt_status eager_candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                            sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const double n = static_cast<double>(as<sxt_matrix_query>(query).rows);
  return mock::one_price(out, capacity, count, 0.5 * (5e-7 + 0.9e-9 * n));
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *,
                   void **state) {
  return *state = const_cast<sxt_head *>(problem->a), SXT_OK;
}

sxt_status run_with(const sxt_dia &a, const sxt_spmv_dots_args &args, mock::Scalar alpha, const sxt_exec *exec) {
  return guard(exec, [&] {
    if (const sxt_status wrong = mock::expect_device(exec, "dots", args.dots)) return wrong;
    const std::vector<const void *> u(args.u, args.u + args.n_dots), v(args.v, args.v + args.n_dots);
    const mock::Scalar beta(args.m.beta, 0);
    return mock::launch(exec->stream, [a, args, alpha, beta, u, v] {
      auto *y = static_cast<double *>(args.m.y), *dots = static_cast<double *>(args.dots);
      mock::multiply(a, alpha.get(), static_cast<const double *>(args.m.x), beta.get(), y);
      const auto or_y = [y](const void *vector) { return vector ? static_cast<const double *>(vector) : y; };
      for (std::size_t d = 0; d < u.size(); ++d) dots[d] = mock::dot(a.s.rows, or_y(u[d]), or_y(v[d]));
    });
  });
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  mock::add("fused runs");
  const auto &args = as<sxt_spmv_dots_args>(head);
  return run_with(*static_cast<const sxt_dia *>(state), args, mock::Scalar(args.m.alpha, 1), exec);
}

// Reads a device scalar on the host, which needs a wait: captured work must not do that.
sxt_status run_eagerly(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_spmv_dots_args>(head);
  if (const sxt_status waited = exec->host->synchronize(exec->host, exec); waited != SXT_OK)
    return error(exec, waited, "the device could not be waited for");
  const double alpha = mock::Scalar(args.m.alpha, 1).get();
  return run_with(*static_cast<const sxt_dia *>(state), args, mock::Scalar({&alpha, 0, 0}, 1), exec);
}

sxt_kernel fused(const char *name, decltype(run) *run_it, decltype(candidates) *price) {
  static const char *const storages[] = {SXT_KIND_STORAGE_DIA, nullptr};
  sxt_kernel k = new_kernel(SXT_KIND_SPMV_DOTS, name, "deferred", "product with diagonals and inner products", run_it);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = type_bit(SXT_F64);
  k.storages = storages;
  k.applicable = applicable;
  k.candidates = price;
  k.prepare = prepare;
  return k;
}

const sxt_kernel kernel = [] {
  sxt_kernel k = fused("spmv_dots.dia.deferred", run, candidates);
  k.flags |= SXT_KERNEL_CAPTURABLE;
  return k;
}();
const sxt_kernel eager = fused("spmv_dots.dia.eager", run_eagerly, eager_candidates);
const sxt_kind kind = new_kind(SXT_KIND_SPMV_DOTS, "product and inner products");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel, &eager, &kind>("hard-spmv-dots-dia", out);
}
