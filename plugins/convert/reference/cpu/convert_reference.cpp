// SPDX-License-Identifier: BSD-3-Clause
// convert.reference.cpu: element by element, one thread.
#include "convert_reference.hpp"

#include <complex>
#include <cstdint>

#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

namespace {

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_convert_query>(query);
  const double n = static_cast<double>(q.n), element = static_cast<double>(value_bytes(q.q.value_type));
  CpuCost cost;
  cost.stream_bytes = cost.working_set = n * (element * (q.operation == SXT_CONVERT_ADD ? 2.5 : 1.5) + 8);
  cost.flops = n * multiply_add_flops(q.q.value_type) * scalar_slowdown(*machine, q.q.value_type);
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, cost).state_bytes = sizeof(sxt_value_type);
  return SXT_OK;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_convert_query>(query);
  if (q.q.value_type != SXT_F64 && q.q.value_type != SXT_C128)
    return refuse(reason, "%s is no working precision with a single one: f64 and c128 are", value_name(q.q.value_type));
  if (q.operation == SXT_CONVERT_NARROW || q.operation == SXT_CONVERT_ADD) return SXT_OK;
  return refuse(reason, "operation %d is not one of 1 to 2", q.operation);
}

template <class Wide, class Single>
sxt_status apply(const sxt_convert_args &args) {
  const auto scale = [&](std::int64_t i) { return args.scale ? args.scale[i] : 1.0; };
  if (args.operation == SXT_CONVERT_NARROW) {
    const auto *x = static_cast<const Wide *>(args.x);
    auto *y = static_cast<Single *>(args.y);
    for (std::int64_t i = 0; i < args.n; ++i) y[i] = static_cast<Single>(args.alpha * (scale(i) * x[i]));
    return SXT_OK;
  }
  const auto *x = static_cast<const Single *>(args.x);
  auto *y = static_cast<Wide *>(args.y);
  for (std::int64_t i = 0; i < args.n; ++i)
    y[i] = y[i] + args.beta * (args.alpha * (scale(i) * static_cast<Wide>(x[i])));
  return SXT_OK;
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_convert_args>(head);
  if (args.operation != SXT_CONVERT_NARROW && args.operation != SXT_CONVERT_ADD)
    return error(exec, SXT_E_NOT_SUPPORTED, "conversion %d is not one of 1 to 2", args.operation);
  return *static_cast<const sxt_value_type *>(state) == SXT_F64
             ? apply<double, float>(args)
             : apply<std::complex<double>, std::complex<float>>(args);
}

}  // namespace

namespace sextant::convert_reference {

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_CONVERT, "convert.reference.cpu", "cpu", "element by element, one thread", run);
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_terms;
  set_calls<sxt_value_type>(k, {applicable, candidates, prepare_type});
  return k;
}();

}  // namespace sextant::convert_reference

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::convert_reference;
  return offer<&kernel, &kind.one>("convert-reference", out);
}
