// SPDX-License-Identifier: BSD-3-Clause
// multidot.reference.cpu: one inner product after the other, summed in long double, one thread.
#include <cstdint>

#include "multidot_reference.hpp"

#include "sextant/sdk/cpu/threads.hpp"

using namespace sextant::plugin;

namespace {

using Long = std::complex<long double>;

// Extended precision takes about eight cycles an element; every pair is read again.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_multidot_query>(query);
  const double n = static_cast<double>(q.n);
  CpuCost cost;
  cost.stream_bytes = 2 * n * q.n_dots * static_cast<double>(value_bytes(q.q.value_type));
  cost.working_set = n * q.distinct * static_cast<double>(value_bytes(q.q.value_type));
  cost.flops = 8 * n * q.n_dots * multiply_add_flops(q.q.value_type) * scalar_slowdown(*machine, q.q.value_type);
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, cost).state_bytes = sizeof(sxt_value_type);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] { return give(new sxt_value_type{problem->query->value_type}, state); });
}

template <class T>
T dot(const T *u, const T *v, std::int64_t n) {
  Long total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += product(std::conj(Long(u[i])), Long(v[i]));
  if constexpr (is_complex<T>)
    return T(static_cast<real_of<T>>(total.real()), static_cast<real_of<T>>(total.imag()));
  else
    return static_cast<T>(total.real());
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *) {
  const auto &args = as<sxt_multidot_args>(head);
  return with_value_type(*static_cast<const sxt_value_type *>(state), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int32_t d = 0; d < args.n_dots; ++d)
      static_cast<T *>(args.result)[d] =
          dot(static_cast<const T *>(args.u[d]), static_cast<const T *>(args.v[d]), args.n);
    return SXT_OK;
  });
}

}  // namespace

namespace sextant::multidot_reference {

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_MULTIDOT, "multidot.reference.cpu", "cpu",
                            "pair by pair in extended precision, one thread", run);
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_terms;
  k.candidates = candidates;
  k.prepare = prepare;
  k.release = destroy<sxt_value_type>;
  return k;
}();

}  // namespace sextant::multidot_reference

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::multidot_reference;
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_kind *const kinds[] = {&kind.one};
  static const sxt_plugin plugin = describe("multidot-reference", kernels, kinds, 1);
  return *out = &plugin, SXT_OK;
}
