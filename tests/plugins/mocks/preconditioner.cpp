// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners of a third party, f64: the inverse of the diagonal. DEFECT 1: new values change nothing; 2: the entry
// before the diagonal counts as well, so that M is not symmetric.
#include <cstdint>
#include <vector>

#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/sdk/cpu/csr.hpp"
#include "sextant/sdk/third_party.hpp"

using namespace sextant::plugin;

namespace {

const char *const names[] = {"com.example.mock_jacobi", "com.example.mock_stale", "com.example.mock_lopsided"};
const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

struct State {
  std::vector<double> inverse;
};

void compute(State &state, const sxt_csr &a) {
  const double *values = static_cast<const double *>(a.values);
  for_each_entry(a, {0, a.s.rows}, [&](std::int64_t i, std::int64_t k, std::int64_t j) {
    if (i == j) state.inverse[static_cast<std::size_t>(i)] = 1 / values[k];
  });
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &a = as<sxt_csr>(problem->a);
    auto *state = new State{std::vector<double>(static_cast<std::size_t>(a.s.rows))};
    compute(*state, a);
    return give(state, out);
  });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *) {
  if (DEFECT != 1) compute(*static_cast<State *>(state), as<sxt_csr>(problem->a));
  return SXT_OK;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *) {
  const State &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_preconditioner_args>(head);
  const double *r = static_cast<const double *>(args.r);
  double *z = static_cast<double *>(args.z);
  for (std::int64_t i = args.n - 1; i >= 0; --i) {
    z[i] = state.inverse[static_cast<std::size_t>(i)] * r[i];
    if (DEFECT == 2 && i > 0) z[i] += 0.3 * state.inverse[static_cast<std::size_t>(i)] * r[i - 1];
  }
  return SXT_OK;
}

const sxt_preconditioner_ops ops = {sizeof(sxt_preconditioner_ops), "mock", nullptr, nullptr, 1};

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_PRECONDITIONER, names[DEFECT], "cpu", "the inverse of the diagonal", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = 1u << SXT_F64;
  k.storages = storages;
  k.ops = &ops;
  k.prepare = prepare;
  k.refresh = refresh;
  k.release = destroy<State>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer_as<&kernel>(names[DEFECT], "0.1.0", nullptr, nullptr, out);
}
