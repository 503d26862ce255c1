// SPDX-License-Identifier: BSD-3-Clause
// The identity: z = r. The simplest member of its kind, for forced comparisons and as a pattern for others.
#include <cstdint>

#include "reference.hpp"
#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"

namespace preconditioner_reference {
namespace {

namespace plugin = sextant::plugin;

struct State {
  std::uint64_t value_bytes;
  std::int64_t n;
};

sxt_status applicable(const sxt_query *head, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &query = plugin::as<sxt_preconditioner_query>(head);
  if (query.method[0] && std::strncmp(query.method, "none", sizeof query.method) != 0)
    return plugin::refuse(reason, "this is \"none\", the query asks for \"%.24s\"", query.method);
  return SXT_OK;
}

sxt_status candidates(const sxt_query *head, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &query = plugin::as<sxt_preconditioner_query>(head);
  plugin::CpuCost cost;
  cost.stream_bytes =
      2 * static_cast<double>(query.m.rows) * static_cast<double>(plugin::value_bytes(query.m.q.value_type));
  cost.working_set = cost.stream_bytes;
  plugin::CandidateList list(out, capacity, count);
  plugin::fill(list.add(), 1, cost);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  const auto &query = plugin::as<sxt_preconditioner_query>(problem->query);
  return plugin::guard(exec, [&] {
    return plugin::give(new State{plugin::value_bytes(query.m.q.value_type), query.m.rows}, state);
  });
}

sxt_status run(const void *state_pointer, void *, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(state_pointer);
  const auto &args = plugin::as<sxt_preconditioner_args>(head);
  if (args.n != state.n)
    return plugin::error(exec, SXT_E_DIMENSION, "the args have n = %lld, the matrix %lld rows",
                         static_cast<long long>(args.n), static_cast<long long>(state.n));
  if (args.n > 0) std::memcpy(args.z, args.r, static_cast<std::uint64_t>(args.n) * state.value_bytes);
  return SXT_OK;
}

const sxt_preconditioner_ops ops{sizeof(sxt_preconditioner_ops), "none", nullptr, nullptr, 0};

}  // namespace

const sxt_kernel &identity() {
  static const sxt_kernel table = [] {
    sxt_kernel k = plugin::new_kernel(SXT_KIND_PRECONDITIONER, "preconditioner.identity.cpu", "cpu",
                                      "no preconditioner: z = r", run);
    // As a reference it never wins a query that leaves the method open: copying is cheap and reduces no iterations.
    k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
    k.value_types = plugin::all_value_types;
    k.term_names = plugin::cpu_terms;
    k.ops = &ops;
    plugin::set_calls<State>(k, {applicable, candidates, prepare});
    return k;
  }();
  return table;
}

}  // namespace preconditioner_reference
