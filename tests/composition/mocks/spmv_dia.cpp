// SPDX-License-Identifier: BSD-3-Clause
// spmv.dia.deferred: y = alpha A x + beta y on diagonals that another plugin built. Knob:
// "product.factor".
#include <cstdint>

#include "mock_kernel.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

namespace {

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return mock::plain_product(as<sxt_spmv_query>(query), reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const double rows = static_cast<double>(as<sxt_matrix_query>(query).rows);
  return mock::one_price(out, capacity, count, mock::knob("product.factor", 1) * (4e-7 + 0.8e-9 * rows));
}

// The state is the matrix itself, which outlives it.
sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *,
                   void **state) {
  return *state = const_cast<sxt_head *>(problem->a), SXT_OK;
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  return guard(exec, [&] {
    const auto &args = as<sxt_spmv_args>(head);
    if (const sxt_status wrong = mock::expect_device(exec, "y", args.y)) return wrong;
    const mock::Scalar alpha(args.alpha, 1), beta(args.beta, 0);
    return mock::launch(exec->stream, [a = *static_cast<const sxt_dia *>(state), args, alpha, beta, exec = *exec] {
      const auto *x = static_cast<const double *>(args.x);
      mock::multiply(a, alpha.get(), x, beta.get(), static_cast<double *>(args.y));
      // Failures that only the running work detects go into the device's status word.
      if (exec.device_status && std::isnan(x[0])) *exec.device_status = SXT_E_NOT_FINITE;
    });
  });
}

const sxt_kernel kernel = [] {
  static const char *const storages[] = {SXT_KIND_STORAGE_DIA, nullptr};
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.dia.deferred", "deferred", "product with diagonals", run);
  k.flags = SXT_KERNEL_CAPTURABLE | SXT_KERNEL_DETERMINISTIC;
  k.value_types = type_bit(SXT_F64);
  k.storages = storages;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("hard-spmv-dia", out);
}
