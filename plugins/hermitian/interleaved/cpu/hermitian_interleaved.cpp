// SPDX-License-Identifier: BSD-3-Clause
// hermitian.interleaved.cpu: small definite systems of one order, as many at once as a vector has lanes, one group a
// thread.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "interleaved_table.hpp"
#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/hermitian.hpp"

SXT_ISA_TABLE(sextant_hermitian_interleaved, Table)

using namespace sextant::plugin;
namespace lanes = sextant_hermitian_interleaved;

namespace {

constexpr std::int64_t most_order = 256;  // beyond it a group leaves the second cache

struct State {
  const lanes::Table *table;
  std::int64_t threads;
};

std::uint64_t real_bytes(sxt_value_type type) { return type == SXT_F32 || type == SXT_C64 ? 4 : 8; }
int parts_of(sxt_value_type type) { return type == SXT_C64 || type == SXT_C128 ? 2 : 1; }

std::uint64_t scratch_of(std::int64_t n, sxt_value_type type, int level) {
  const auto vector = static_cast<std::uint64_t>(register_bytes_of(level));
  return (static_cast<std::uint64_t>(lanes::vectors_of(n, parts_of(type))) * vector + 255) / 256 * 256;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_hermitian_query>(query);
  if (q.definiteness != SXT_HERMITIAN_DEFINITE)
    return refuse(reason, "lanes with different pivots cannot share vectors");
  if (q.orders_vary) return refuse(reason, "systems of mixed orders cannot share vectors");
  if (q.n_max > most_order)
    return refuse(reason, "order %lld is above %lld", (long long)q.n_max, (long long)most_order);
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_query>(query);
  const double width = register_bytes_of(machine->level) / static_cast<double>(real_bytes(q.q.value_type));
  const auto lanes_wide = static_cast<std::int64_t>(width);
  const std::int64_t groups = (q.batch + lanes_wide - 1) / lanes_wide;
  const double filled = q.batch > 0 ? static_cast<double>(groups * lanes_wide) / static_cast<double>(q.batch) : 1;
  const double n = static_cast<double>(q.n_max), blocks = std::ceil(n / lanes::rows) * lanes::rows;
  const double padding = n > 0 ? filled * blocks / n : 1;
  // Reals that move between columns and lanes, in both directions, a vector in about five steps.
  const double reals = (q.sum_n2 / 2 * (factors(q.phase) ? 2 : 1) + 2 * q.sum_n1 * static_cast<double>(q.n_rhs)) *
                       parts_of(q.q.value_type);
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    CpuCost cost;
    cost.working_set = hermitian_bytes(q);
    cost.stream_bytes = 1.5 * cost.working_set;  // whole lines pass, also where a column begins within one
    // Groups of complex systems leave the second cache first.
    const double late = parts_of(q.q.value_type) == 2 ? std::max(0.0, n - 160) / 110 : 0;
    cost.flops = (2 + late) * hermitian_flops(q) * padding;
    cost.imbalance = hermitian_imbalance(groups, threads);
    sxt_candidate &candidate = fill(list.add(), threads, cost);
    candidate.launch[1] = machine->level;
    candidate.model_class = static_cast<std::uint32_t>(2 * q.phase + (threads > 1));
    candidate.terms[5] = (5 * filled * reals / width + 200.0 * static_cast<double>(groups)) * cost.imbalance;
    candidate.n_terms = 6;
    candidate.state_bytes = sizeof(State);
    candidate.scratch_bytes = static_cast<std::uint64_t>(threads) * scratch_of(q.n_max, q.q.value_type, machine->level);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    return give(new State{&lanes::isa_table(isa_level(candidate)), candidate ? candidate->launch[0] : exec->threads},
                state);
  });
}

// Systems first .. first + width - 1 as a group. False when none of them takes part.
template <class T>
bool make_group(const sxt_hermitian_args &args, std::int64_t first, int width, lanes::Group &group) {
  int some = -1;
  for (int l = 0; l < width; ++l) {
    const std::int64_t s = first + l;
    group.write[l] = false;
    if (s >= args.batch) continue;
    const HermitianSystem<T> system = system_of<T>(args, s);
    if (!takes_part(args, s, system) || system.n == 0) continue;
    group.a[l] = system.a, group.lda[l] = system.lda;
    group.b[l] = system.b, group.ldb[l] = system.ldb;
    group.write[l] = true;
    some = l;
  }
  if (some < 0) return false;
  for (int l = 0; l < width; ++l) {  // an empty lane repeats one that is not
    if (group.write[l]) continue;
    group.a[l] = group.a[some], group.lda[l] = group.lda[some];
    group.b[l] = group.b[some], group.ldb[l] = group.ldb[some];
  }
  group.n = args.n_max;
  group.n_rhs = args.n_rhs;
  group.upper = args.triangle == SXT_UPPER;
  group.factors = factors(args.phase);
  group.solves = solves(args.phase) && args.n_rhs > 0;
  return true;
}

// A system that failed stays unchanged.
template <class T>
std::int32_t info_of(const sxt_hermitian_args &args, std::int64_t s, std::int32_t pivot) {
  return definite_verdict(pivot, pivot < 0 && all_finite(system_of<T>(args, s), args.triangle));
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_hermitian_args>(head);
  if (const sxt_status wrong = check_hermitian_args(args, exec)) return wrong;
  const int team = team_size(state.threads, *exec), type = args.value_type - 1;
  const int width = state.table->lanes[type];
  const std::int64_t groups = (args.batch + width - 1) / width;
  const std::uint64_t scratch = exec->scratch_bytes / static_cast<std::uint64_t>(std::max(1, team)) / 256 * 256;
  const auto needed = static_cast<std::uint64_t>(lanes::vectors_of(args.n_max, parts_of(args.value_type)) * width) *
                      real_bytes(args.value_type);
  if (const sxt_status wrong = need_scratch(exec, needed * static_cast<std::uint64_t>(team))) return wrong;
  return with_value_type(args.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_claimed(groups, team, [&](std::int64_t g, int thread) {
      lanes::Group group;
      if (!make_group<T>(args, g * width, width, group)) return;
      group.scratch = static_cast<char *>(exec->scratch) + scratch * static_cast<std::uint64_t>(thread);
      bool taken[lanes::most_lanes];
      std::copy(group.write, group.write + width, taken);
      state.table->work[type](group);
      for (int l = 0; l < width && group.factors; ++l)
        if (taken[l]) args.info[g * width + l] = info_of<T>(args, g * width + l, group.info[l]);
    });
    return SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN, "hermitian.interleaved.cpu", "cpu",
                            "small definite systems of one order, one a vector lane", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_step_terms;
  set_calls<State>(k, {applicable, candidates, prepare});
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel>("hermitian-interleaved", out);
}
