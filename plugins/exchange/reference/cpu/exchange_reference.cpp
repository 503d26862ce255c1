// SPDX-License-Identifier: BSD-3-Clause
// exchange.reference.cpu: each value from its place to where it is wanted, one after the other. Members on the host
// have no other: what leaves one of them is a surface of what it multiplies.
#include <cstdint>

#include "exchange_reference.hpp"

namespace sextant::exchange_reference {
namespace {

using namespace plugin;

sxt_status run(const void *type_of, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_exchange_args>(head);
  return with_value_type(*static_cast<const sxt_value_type *>(type_of), [&](auto tag) -> sxt_status {
    using T = typename decltype(tag)::type;
    const T *x = static_cast<const T *>(args.x);
    for (std::int32_t l = 0; l < args.n_links; ++l) {
      const sxt_exchange_link &link = args.links[l];
      if (link.begin < 0 || link.begin + link.count > args.n)
        return error(exec, SXT_E_ARGUMENT, "link %d has values %lld to %lld of %lld", l, (long long)link.begin,
                     (long long)(link.begin + link.count - 1), (long long)args.n);
      T *to = static_cast<T *>(link.to);
      for (std::int64_t i = 0; i < link.count; ++i) to[i] = x[args.index[link.begin + i]];
    }
    return SXT_OK;
  });
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] { return give(new sxt_value_type(problem->query->value_type), state); });
}

// An index, a value read where it is likely to miss, a value written.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_exchange_query>(query);
  const double bytes = static_cast<double>(8 + value_bytes(q.q.value_type)) * static_cast<double>(q.n);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.launch[0] = 1;
  candidate.units = 1;
  candidate.run_s = machine->launch_s + bytes / (machine->stream_rate_unit > 0 ? machine->stream_rate_unit : 1e10) +
                    static_cast<double>(q.n) * 2e-9;
  candidate.state_bytes = sizeof(sxt_value_type);
  return SXT_OK;
}

}  // namespace

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_EXCHANGE, "exchange.reference.cpu", "cpu", "one value after the other", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_REFERENCE;
  k.prepare = prepare;
  k.release = destroy<sxt_value_type>;
  k.candidates = candidates;
  return k;
}();

}  // namespace sextant::exchange_reference

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::exchange_reference;
  static const sxt_kernel *const kernels[] = {&kernel, &rendezvous_kernel};
  static const sxt_kind *const kinds[] = {&kind.one, &rendezvous_kind};
  static const sxt_plugin plugin = sextant::plugin::describe("exchange-reference", kernels, kinds, 2);
  return *out = &plugin, SXT_OK;
}
