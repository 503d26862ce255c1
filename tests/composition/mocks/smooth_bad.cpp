// SPDX-License-Identifier: BSD-3-Clause
// Kernels of the third party's kind with invalid models, conditions or answers. None of them may ever be chosen, and
// none may affect the choice of the others.
#include <cstdint>
#include <limits>

#include "sextant/sdk/kernel.hpp"
#include "smooth.hpp"

using namespace sextant::plugin;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <int N>
sxt_status prices(sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count, const double (&run_s)[N],
                  double setup_s = 0) {
  CandidateList list(out, capacity, count);
  for (const double each : run_s) {
    sxt_candidate &candidate = list.add();
    candidate.run_s = each;
    candidate.setup_s = setup_s;
  }
  return SXT_OK;
}

#define MODEL(name, ...)                                                                            \
  sxt_status name(const sxt_query *, const sxt_features *, const sxt_machine *, const sxt_filled *, \
                  sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {               \
    return __VA_ARGS__;                                                                             \
  }
MODEL(is_nan, prices(out, capacity, count, {nan}))
MODEL(is_negative, prices(out, capacity, count, {-1.0}))
MODEL(has_nan_setup, prices(out, capacity, count, {0.0}, nan))
MODEL(has_negative_setup, prices(out, capacity, count, {0.0}, -1e9))
MODEL(is_nan_twice, prices(out, capacity, count, {nan, nan}))
MODEL(is_nan_then_dear, prices(out, capacity, count, {nan, 1e6}))
MODEL(fails, (static_cast<void>(out), static_cast<void>(capacity), *count = 0, SXT_E_INTERNAL))
MODEL(gives_none, (static_cast<void>(out), static_cast<void>(capacity), *count = 0, SXT_OK))
MODEL(is_free, prices(out, capacity, count, {0.0}))
#undef MODEL

sxt_status never(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return refuse(reason, "n = %lld is not supported", (long long)as<SmoothQuery>(query).n);
}

// A wrong answer: a copy.
sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *) {
  const auto &args = as<SmoothArgs>(head);
  std::memcpy(args.y, args.x, args.n * sizeof(double));
  return SXT_OK;
}

sxt_kernel bad(const char *name, decltype(is_nan) *model, decltype(never) *applicable = nullptr) {
  sxt_kernel k = new_kernel(KIND_SMOOTH, name, "cpu", "no good", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.applicable = applicable;
  k.candidates = model;
  return k;
}

const sxt_kernel all[] = {bad("smooth.nan", is_nan),
                          bad("smooth.negative", is_negative),
                          bad("smooth.nan-setup", has_nan_setup),
                          bad("smooth.negative-setup", has_negative_setup),
                          bad("smooth.nan-twice", is_nan_twice),
                          bad("smooth.nan-then-dear", is_nan_then_dear),
                          bad("smooth.failing", fails),
                          bad("smooth.none", gives_none),
                          bad("smooth.never", is_free, never),
                          bad("smooth.wrong", is_free)};

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&all[0], &all[1], &all[2], &all[3], &all[4],
                                              &all[5], &all[6], &all[7], &all[8], &all[9]};
  static const sxt_plugin plugin = describe("hard-smooth-bad", kernels);
  return *out = &plugin, SXT_OK;
}
