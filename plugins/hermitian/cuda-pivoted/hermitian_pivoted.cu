// SPDX-License-Identifier: BSD-3-Clause
// hermitian.pivoted.cuda: indefinite sets by L D L^H with Bunch-Kaufman pivoting: working memory, models, launch.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "pivoted.cuh"
#include "sextant/plugin_hermitian_query.hpp"

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;

namespace sextant::hermitian_pivoted {
namespace {

// Threads a block, and blocks that the compiler leaves registers for on one multiprocessor.
struct Shape {
  std::int32_t threads, resident;
};
constexpr Shape shapes[] = {{64, 8}, {128, 4}, {256, 2}};
constexpr std::int32_t n_shapes = 3;

struct State {
  std::int32_t shape, depth;
  unsigned grid;
  bool in_shared;             // the panel stands in shared memory, not in scratch
  std::size_t shared, panel;  // bytes
};

constexpr const char *terms[] = {"launches",         "stream_bytes", "flops",
                                 "latency.columns",  "latency.rows", "latency.panel_bytes",
                                 "latency.products", nullptr};
// A column waits for a search over the block, mostly for two, and for its rows one after the other in each thread, each
// with as many products as the panel has columns by then.
const double term_defaults[] = {NAN, NAN, NAN, 1.2e-6, 2e-7, 8e-12, 4e-9, NAN};
constexpr std::size_t reserved_shared = 1024;

std::size_t panel_bytes(const sxt_hermitian_query &q, int depth) {
  return static_cast<std::size_t>(q.n_max) * static_cast<std::size_t>(depth) * value_bytes(q.q.value_type);
}

// Shared memory of one block without the panel.
std::size_t working_bytes(const sxt_hermitian_query &q, const Shape &shape, int depth) {
  std::size_t control = 0;
  dense::with_number(q.q.value_type, [&](auto tag) {
    control = sizeof(Control<typename decltype(tag)::type>);
    return SXT_OK;
  });
  return control +
         static_cast<std::size_t>(working_elements(q.n_max, depth, shape.threads / 32)) * value_bytes(q.q.value_type);
}

// Blocks of a shape that one multiprocessor holds.
std::int64_t resident_blocks(const Shape &shape, std::size_t shared, const sxt_machine &machine) {
  const std::int64_t limit = machine.shared_per_unit > 0 ? machine.shared_per_unit : 233472;
  return std::min<std::int64_t>(shape.resident, limit / static_cast<std::int64_t>(shared + reserved_shared));
}

// One candidate of the shape, the depth and the place of the panel; false where it does not fit. Solves have no panel.
bool fill(sxt_candidate &candidate, const sxt_hermitian_query &q, const sxt_machine &machine, std::int32_t s, int depth,
          bool in_shared) {
  const std::size_t panel = panel_bytes(q, depth),
                    shared = working_bytes(q, shapes[s], depth) + (in_shared && factors(q.phase) ? panel : 0);
  const std::size_t limit = machine.shared_per_block > 0 ? static_cast<std::size_t>(machine.shared_per_block) : 232448;
  const std::int64_t blocks = resident_blocks(shapes[s], shared, machine);
  if (blocks < 1 || shared > limit) return false;
  if (!factors(q.phase) && (depth != 16 || !in_shared)) return false;
  const double batch = static_cast<double>(std::max<std::int64_t>(1, q.batch));
  const bool complex = q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128;
  const std::int64_t grid = std::clamp<std::int64_t>(q.batch, 1, blocks * std::max(1, machine.units));
  const double rounds = std::ceil(batch / static_cast<double>(grid)),
               value = static_cast<double>(value_bytes(q.q.value_type));
  candidate.launch[0] = grid;
  candidate.launch[1] = s;
  candidate.launch[2] = in_shared ? depth : -depth;
  candidate.launch[3] = static_cast<std::int64_t>(shared);
  candidate.model_class = 4 * static_cast<std::uint32_t>(q.phase) + static_cast<std::uint32_t>(s);
  candidate.n_terms = 7;
  candidate.terms[0] = 1;
  // The trailing triangle is read and written once for every panel.
  candidate.terms[1] = hermitian_bytes(q) + (factors(q.phase) ? q.sum_n3 / 3 / depth * value : 0);
  candidate.terms[2] = hermitian_flops(q);
  const double steps = rounds * (solves(q.phase) ? 1.4 : 1);
  candidate.terms[3] = q.sum_n1 / batch * steps;
  candidate.terms[4] = q.sum_n2 / batch * steps / shapes[s].threads;
  candidate.terms[5] = in_shared || !factors(q.phase) ? 0 : q.sum_n2 / batch * rounds * depth / 2 * value;
  candidate.terms[6] =
      factors(q.phase) ? q.sum_n2 / batch * rounds * depth / 2 / shapes[s].threads * (complex ? 4 : 1) : 0;
  candidate.working_set_bytes = hermitian_bytes(q);
  candidate.units = std::min<double>(static_cast<double>(grid), std::max(1, machine.units));
  candidate.state_bytes = sizeof(State);
  candidate.scratch_bytes = in_shared ? 0 : static_cast<std::uint64_t>(grid) * panel;
  return true;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *machine, sxt_message *reason) {
  const auto &q = as<sxt_hermitian_query>(query);
  if (q.definiteness != SXT_HERMITIAN_INDEFINITE) return refuse(reason, "only sets called indefinite");
  if (sxt_candidate smallest{}; !fill(smallest, q, *machine, 0, 16, !factors(q.phase)))
    return refuse(reason, "order %lld: two of its columns do not fit in a block's shared memory", (long long)q.n_max);
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_query>(query);
  CandidateList list(out, capacity, count);
  for (std::int32_t s = 0; s < n_shapes; ++s)
    for (const int depth : {16, 32})
      for (const bool in_shared : {true, false})
        if (sxt_candidate candidate{}; fill(candidate, q, *machine, s, depth, in_shared)) list.add() = candidate;
  return SXT_OK;
}

// Calls f with the kernel of a type and a shape.
template <class F>
sxt_status with_kernel(sxt_value_type type, std::int32_t shape, F &&f) {
  return dense::with_number(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    switch (shape) {
      case 0: return f(tag, factor_pivoted<T, shapes[0].threads, shapes[0].resident>);
      case 1: return f(tag, factor_pivoted<T, shapes[1].threads, shapes[1].resident>);
      default: return f(tag, factor_pivoted<T, shapes[2].threads, shapes[2].resident>);
    }
  });
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    const auto &q = as<sxt_hermitian_query>(problem->query);
    if (!candidate || candidate->launch[0] < 1)
      return error(exec, SXT_E_STATE,
                   "hermitian.pivoted.cuda needs the candidate it was chosen by: its scratch depends on it");
    const auto depth = static_cast<std::int32_t>(std::abs(candidate->launch[2]));
    const State made{static_cast<std::int32_t>(candidate->launch[1]), depth,
                     static_cast<unsigned>(candidate->launch[0]),     candidate->launch[2] > 0,
                     static_cast<std::size_t>(candidate->launch[3]),  panel_bytes(q, depth)};
    const sxt_status loaded = with_kernel(q.q.value_type, made.shape, [&](auto, auto kernel) {
      return dense::load_with_shared(exec, kernel, made.shared);
    });
    return loaded == SXT_OK ? give(new State(made), state) : loaded;
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_hermitian_args>(head);
  if (const sxt_status wrong = check_hermitian_args(args, exec)) return wrong;
  if (args.batch <= 0) return SXT_OK;
  const std::uint64_t needed = state.in_shared ? 0 : state.grid * state.panel;
  if (needed > exec->scratch_bytes || (needed && !exec->scratch))
    return error(exec, SXT_E_STATE, "%llu bytes of scratch lent, %llu needed", (unsigned long long)exec->scratch_bytes,
                 (unsigned long long)needed);
  return with_kernel(args.value_type, state.shape, [&](auto tag, auto kernel) {
    auto *panels = state.in_shared ? nullptr : static_cast<typename decltype(tag)::type *>(exec->scratch);
    const auto threads = static_cast<unsigned>(shapes[state.shape].threads);
    kernel<<<state.grid, threads, state.shared, cuda::stream_of(*exec)>>>(dense::set_of(args), args.phase, state.depth,
                                                                          panels);
    return cuda::launched(exec, "hermitian.pivoted.cuda");
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN, "hermitian.pivoted.cuda", "cuda",
                            "L D L^H with Bunch-Kaufman pivoting, a block a system, panels of 16 or 32 columns", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.min_level = 80;
  k.term_names = terms;
  k.term_defaults = term_defaults;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.release = destroy<State>;
  return k;
}();

}  // namespace
}  // namespace sextant::hermitian_pivoted

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&sextant::hermitian_pivoted::kernel};
  static const sxt_plugin plugin = describe("hermitian-pivoted-cuda", kernels);
  return *out = &plugin, SXT_OK;
}
