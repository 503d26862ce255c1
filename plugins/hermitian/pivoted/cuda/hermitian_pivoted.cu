// SPDX-License-Identifier: BSD-3-Clause
// hermitian.pivoted.cuda: indefinite sets by L D L^H with Bunch-Kaufman pivoting: working memory, models, launch.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hermitian_pivoted.hpp"
#include "pivoted.cuh"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/hermitian_query.hpp"

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;

namespace sextant::hermitian_pivoted {
namespace {

// Threads a block, blocks that the compiler leaves registers for on one multiprocessor, and whether the panel stands in
// shared memory (else in scratch).
struct Shape {
  std::int32_t threads, resident;
  bool shared;
};
constexpr Shape shapes[] = {{32, 16, true}, {64, 8, true},  {128, 4, true},
                            {256, 2, true}, {512, 1, true}, {256, 2, false}};
constexpr std::int32_t n_shapes = 6;

struct State {
  std::int32_t shape;
  unsigned grid;
  std::size_t shared, elements;  // bytes of shared memory; elements of a block's panel
};

constexpr const char *terms[] = {
    "launches",         "stream_bytes",  "flops",          "latency.columns",     "latency.rows",
    "latency.products", "latency.tiles", "latency.panels", "latency.panel_bytes", nullptr};
// A column waits for a search over the block, mostly for two, and for its rows one after the other in each thread, each
// with as many products as the panel has columns by then; a warp for its tiles of the rest; and a panel for its end. As
// c128 took on an H200 at orders 64 to 700.
const double term_defaults[] = {NAN, NAN, NAN, 1.3e-6, 2.4e-7, 4e-9, 1e-8, 2.2e-6, 1e-10, NAN};
constexpr std::size_t reserved_shared = 1024;
constexpr int fewest_columns = 4;  // of a panel

template <class T, std::int32_t s = 0>
std::size_t control_bytes(std::int32_t threads) {
  if constexpr (s + 1 < n_shapes)
    if (threads != shapes[s].threads) return control_bytes<T, s + 1>(threads);
  return sizeof(Control<T, shapes[s].threads / 32>);
}

// Shared memory of one block without the panel, or of solves alone.
std::size_t working_bytes(const sxt_hermitian_query &q, const Shape &shape) {
  std::size_t bytes = 0;
  dense::with_number(q.q.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    bytes =
        control_bytes<T>(shape.threads) + beside_panel<T>(static_cast<int>(q.n_max), shape.shared && factors(q.phase));
    return SXT_OK;
  });
  return bytes;
}

// The cost of a system of average size for one block, panel by panel.
struct Work {
  double rest = 0, rows = 0, products = 0, tiles = 0, panels = 0, panel_elements = 0;
};
Work work_of(double order, double capacity, int threads) {
  Work w;
  for (double rows = order; rows > 0.5;) {
    const double columns = std::min(rows, std::clamp(std::floor(capacity / rows), 2.0, double{most_columns})),
                 left = rows - columns, turns = std::ceil(rows / threads);
    w.rest += left * left;
    w.rows += columns * turns;
    w.products += columns * columns / 2 * turns;
    w.tiles += std::ceil(left / 8) * (left + 16) / 32 * columns / (threads / 32.0);
    w.panels += 1;
    w.panel_elements += rows * columns * columns / 2;
    rows = left;
  }
  return w;
}

// One candidate: a shape with this many blocks a multiprocessor; false where it does not fit. Solves have no panel.
bool fill(sxt_candidate &candidate, const sxt_hermitian_query &q, const sxt_machine &machine, std::int32_t s,
          std::int64_t blocks) {
  const Shape &shape = shapes[s];
  const bool factor = factors(q.phase);
  const std::size_t value = value_bytes(q.q.value_type), working = working_bytes(q, shape),
                    per_unit = machine.shared_per_unit > 0 ? static_cast<std::size_t>(machine.shared_per_unit) : 233472,
                    per_block =
                        machine.shared_per_block > 0 ? static_cast<std::size_t>(machine.shared_per_block) : 232448,
                    room = std::min(per_block, per_unit / static_cast<std::size_t>(blocks) - reserved_shared);
  const auto n = static_cast<std::size_t>(std::max<std::int64_t>(1, q.n_max));
  if (working > room) return false;
  if (!factor && !shape.shared) return false;
  // A panel of the whole order, or as many columns as there is room for.
  std::size_t elements = factor ? n * std::min<std::size_t>(most_columns + 1, n | 1) : 0;
  if (shape.shared) elements = std::min(elements, (room - working) / value);
  if (factor && elements / n < std::min<std::size_t>(fewest_columns, n)) return false;
  const double batch = static_cast<double>(std::max<std::int64_t>(1, q.batch));
  const std::int64_t grid = std::clamp<std::int64_t>(q.batch, 1, blocks * std::max(1, machine.units));
  const double rounds = std::ceil(batch / static_cast<double>(grid)), steps = rounds * (solves(q.phase) ? 1.4 : 1);
  const bool complex = q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128;
  const Work work =
      factor ? work_of(std::cbrt(q.sum_n3 / batch), static_cast<double>(elements), shape.threads) : Work{};
  candidate.launch[0] = grid;
  candidate.launch[1] = s;
  candidate.launch[2] = static_cast<std::int64_t>(elements);
  candidate.launch[3] = static_cast<std::int64_t>(working + (shape.shared ? elements * value : 0));
  candidate.model_class = 8 * static_cast<std::uint32_t>(q.phase) + static_cast<std::uint32_t>(s);
  candidate.n_terms = 9;
  candidate.terms[0] = 1;
  candidate.terms[1] = hermitian_bytes(q) + batch * work.rest * static_cast<double>(value);
  candidate.terms[2] = hermitian_flops(q);
  candidate.terms[3] = q.sum_n1 / batch * steps;
  candidate.terms[4] = factor ? work.rows * rounds : q.sum_n2 / batch / shape.threads * steps;
  candidate.terms[5] = work.products * rounds * (complex ? 4 : 1);
  candidate.terms[6] = work.tiles * rounds * (complex ? 4 : 1);
  candidate.terms[7] = work.panels * rounds;
  candidate.terms[8] = shape.shared ? 0 : work.panel_elements * rounds * static_cast<double>(value);
  candidate.working_set_bytes = hermitian_bytes(q);
  candidate.units = std::min<double>(static_cast<double>(grid), std::max(1, machine.units));
  candidate.state_bytes = sizeof(State);
  candidate.scratch_bytes = shape.shared || !factor ? 0 : static_cast<std::uint64_t>(grid) * elements * value;
  return true;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *machine, sxt_message *reason) {
  const auto &q = as<sxt_hermitian_query>(query);
  if (q.definiteness != SXT_HERMITIAN_INDEFINITE) return refuse(reason, "only sets called indefinite");
  if (sxt_candidate smallest{};
      q.n_max > most_rows || !fill(smallest, q, *machine, factors(q.phase) ? n_shapes - 1 : 0, 1))
    return refuse(reason, "order %lld: one of its columns does not fit in a block's shared memory", (long long)q.n_max);
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_query>(query);
  CandidateList list(out, capacity, count);
  for (std::int32_t s = 0; s < n_shapes; ++s)
    for (std::int64_t blocks = shapes[s].resident; blocks >= 1; blocks /= 2) {
      sxt_candidate candidate{};
      if (!fill(candidate, q, *machine, s, blocks)) continue;
      list.add() = candidate;
      if (!factors(q.phase)) break;  // no panel that fewer blocks would leave room for
    }
  return SXT_OK;
}

// Calls f with the kernel of a type and a shape.
template <std::int32_t s = 0, class F>
sxt_status with_kernel(sxt_value_type type, std::int32_t shape, F &&f) {
  if constexpr (s + 1 < n_shapes)
    if (shape != s) return with_kernel<s + 1>(type, shape, f);
  return dense::with_number(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return f(tag, factor_pivoted<T, shapes[s].threads, shapes[s].resident, shapes[s].shared>);
  });
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    const auto &q = as<sxt_hermitian_query>(problem->query);
    if (!candidate || candidate->launch[0] < 1)
      return error(exec, SXT_E_STATE,
                   "hermitian.pivoted.cuda needs the candidate with which it was chosen: its scratch depends on it");
    const State made{static_cast<std::int32_t>(candidate->launch[1]), static_cast<unsigned>(candidate->launch[0]),
                     static_cast<std::size_t>(candidate->launch[3]), static_cast<std::size_t>(candidate->launch[2])};
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
  const Shape &shape = shapes[state.shape];
  const std::uint64_t needed =
      shape.shared || !factors(args.phase) ? 0 : state.grid * state.elements * value_bytes(args.value_type);
  if (const sxt_status wrong = need_scratch(exec, needed)) return wrong;
  return with_kernel(args.value_type, state.shape, [&](auto tag, auto kernel) {
    kernel<<<state.grid, static_cast<unsigned>(shape.threads), state.shared, cuda::stream_of(*exec)>>>(
        dense::set_of(args), args.phase, static_cast<std::int64_t>(state.elements),
        static_cast<typename decltype(tag)::type *>(exec->scratch));
    return cuda::launched(exec, "hermitian.pivoted.cuda");
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN, "hermitian.pivoted.cuda", "cuda",
                            "L D L^H with Bunch-Kaufman pivoting, a block a system, a panel on chip", run);
  k.version = 3;
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.min_level = 80;
  k.term_names = terms;
  k.term_defaults = term_defaults;
  set_calls<State>(k, {applicable, candidates, prepare});
  return k;
}();

}  // namespace
}  // namespace sextant::hermitian_pivoted

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&sextant::hermitian_pivoted::kernel, &sextant::hermitian_pivoted::tile_kernel>("hermitian-pivoted-cuda",
                                                                                              out);
}
