// SPDX-License-Identifier: BSD-3-Clause
// hermitian.pivoted_tile.cuda: small indefinite systems on chip: which systems fit, the cost of each launch, and the
// launch.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hermitian_pivoted.hpp"
#include "pivoted_tile.cuh"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/hermitian_query.hpp"

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;

namespace sextant::hermitian_pivoted {
namespace {

// Threads a block, which has a row each, and blocks that the compiler leaves registers for on one multiprocessor: of
// c128, and of the other types.
struct Shape {
  std::int32_t threads, resident_wide, resident_narrow;
  constexpr std::int32_t resident(std::uint64_t value_bytes) const {
    return value_bytes == 16 ? resident_wide : resident_narrow;
  }
};
constexpr Shape shapes[] = {{32, 16, 20}, {64, 8, 10}, {96, 5, 6}};
constexpr std::int32_t n_shapes = 3;

struct State {
  std::int32_t shape, rows;  // rows: whose triangle stands on chip
  std::size_t shared;
};

constexpr const char *terms[] = {"launches",       "stream_bytes", "flops", "latency.columns", "latency.memory_columns",
                                 "latency.solves", nullptr};
// A column waits for one search of the block, mostly for two, and for the warps that share the multiprocessor; one that
// stands in memory for that as well; and in a solve twice for exchanges between lanes.
const double term_defaults[] = {NAN, NAN, NAN, 8.5e-7, 2.6e-7, 4.5e-7, NAN};
constexpr std::size_t reserved_shared = 1024;

// The least number of threads that has one for each row; n_shapes where none has.
std::int32_t shape_for(std::int64_t n) {
  std::int32_t s = 0;
  while (s < n_shapes && shapes[s].threads < n) ++s;
  return s;
}

// Bytes of shared memory beside the triangle.
template <std::int32_t s = 0>
std::size_t working_bytes(const sxt_hermitian_query &q, std::int32_t shape) {
  if constexpr (s + 1 < n_shapes)
    if (shape != s) return working_bytes<s + 1>(q, shape);
  constexpr int threads = shapes[s].threads;
  std::size_t bytes = 0;
  dense::with_number(q.q.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    bytes = sizeof(TileControl<T, threads>) + beside_triangle<T>(static_cast<int>(q.n_max), threads) * sizeof(T);
    return SXT_OK;
  });
  return bytes;
}

std::size_t shared_of_unit(const sxt_machine &machine) {
  return machine.shared_per_unit > 0 ? static_cast<std::size_t>(machine.shared_per_unit) : 233472;
}
std::size_t triangle_bytes(const sxt_hermitian_query &q, std::int64_t rows) {
  return packed_elements(static_cast<std::size_t>(rows)) * value_bytes(q.q.value_type);
}

// Rows whose triangle has room where `blocks` share a multiprocessor.
std::int64_t rows_on_chip(const sxt_hermitian_query &q, const sxt_machine &machine, std::size_t working,
                          std::int64_t blocks) {
  const std::size_t per_block =
                        machine.shared_per_block > 0 ? static_cast<std::size_t>(machine.shared_per_block) : 232448,
                    room = std::min(per_block,
                                    shared_of_unit(machine) / static_cast<std::size_t>(blocks) - reserved_shared);
  std::int64_t rows = std::max<std::int64_t>(1, q.n_max);
  while (rows > 0 && working + triangle_bytes(q, rows) > room) --rows;
  return rows;
}

// Elements that stand in memory and are read and written once more, where more columns than a panel takes do not stand
// on chip.
double elements_again(double order, double on_chip) {
  double elements = 0;
  for (double left = order - memory_columns; left > on_chip; left -= memory_columns) elements += left * left;
  return elements;
}

// One candidate: this many systems a multiprocessor at once. False where too little of them would fit on chip.
bool fill(sxt_candidate &candidate, const sxt_hermitian_query &q, const sxt_machine &machine, std::int32_t s,
          std::int64_t blocks) {
  const Shape &shape = shapes[s];
  const std::size_t working = working_bytes(q, s);
  const std::int64_t rows = rows_on_chip(q, machine, working, blocks);
  const bool factor = factors(q.phase);
  if (factor && rows < std::min<std::int64_t>(q.n_max, q.n_max / 2 + 4)) return false;
  const std::size_t bytes = factor ? working + triangle_bytes(q, rows) : 0;
  const std::int64_t at_once =
      std::min<std::int64_t>(shape.resident(value_bytes(q.q.value_type)),
                             static_cast<std::int64_t>(shared_of_unit(machine) / (bytes + reserved_shared)));
  const double batch = static_cast<double>(std::max<std::int64_t>(1, q.batch)), units = std::max(1, machine.units),
               rounds = std::max(1.0, std::ceil(batch / (static_cast<double>(at_once) * units))),
               order = q.sum_n1 / batch, warps = shape.threads / 32;
  candidate.launch[0] = q.batch;
  candidate.launch[1] = s;
  candidate.launch[2] = rows;
  candidate.launch[3] = static_cast<std::int64_t>(bytes);
  candidate.model_class = 8 * static_cast<std::uint32_t>(q.phase) + static_cast<std::uint32_t>(s);
  candidate.n_terms = 6;
  candidate.terms[0] = 1;
  candidate.terms[1] = hermitian_bytes(q);
  candidate.terms[2] = hermitian_flops(q);
  const std::size_t value = value_bytes(q.q.value_type);
  if (factor) {
    const bool complex = q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128;
    const double on_chip = static_cast<double>(rows), beside = warps * std::max(1.0, batch / (units * rounds));
    candidate.terms[1] += batch * elements_again(order, on_chip) * static_cast<double>(value);
    candidate.terms[3] = rounds * order * (1 + beside * (complex ? 0.047 : 0.0235));
    candidate.terms[4] = rounds * std::max(0.0, order - on_chip);
  }
  if (solves(q.phase)) {
    const double turns = std::ceil(static_cast<double>(q.n_rhs) / warps), rows_of_lane = order > 32 ? 1.6 : 1;
    candidate.terms[5] = rounds * turns * order * rows_of_lane * (value == 16 ? 1.35 : 1);
  }
  candidate.working_set_bytes = hermitian_bytes(q);
  candidate.units = std::min(batch, units);
  candidate.state_bytes = sizeof(State);
  return true;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *machine, sxt_message *reason) {
  const auto &q = as<sxt_hermitian_query>(query);
  if (q.definiteness != SXT_HERMITIAN_INDEFINITE) return refuse(reason, "only sets called indefinite");
  const std::int32_t s = shape_for(q.n_max);
  if (sxt_candidate alone{}; s == n_shapes || !fill(alone, q, *machine, s, 1))
    return refuse(reason, "order %lld: more than %d rows, or too little of them fits in a block's shared memory",
                  (long long)q.n_max, shapes[n_shapes - 1].threads);
  return SXT_OK;
}

// As many rows on chip as have room beside the other systems, for every number of rounds.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_query>(query);
  const std::int32_t s = shape_for(q.n_max);
  CandidateList list(out, capacity, count);
  double last = 0;
  for (std::int64_t blocks = 1; blocks <= shapes[s].resident(value_bytes(q.q.value_type)); ++blocks) {
    sxt_candidate candidate{};
    if (!fill(candidate, q, *machine, s, blocks)) continue;
    const double waits = candidate.terms[3] + candidate.terms[5];
    if (waits == last) continue;
    last = waits;
    list.add() = candidate;
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
    return f(factor_tile<T, shapes[s].threads, shapes[s].resident(sizeof(T))>);
  });
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    const auto &q = as<sxt_hermitian_query>(problem->query);
    sxt_candidate alone{};
    const bool chosen = candidate && candidate->launch[0] > 0;
    if (!chosen && (shape_for(q.n_max) == n_shapes || !fill(alone, q, sxt_machine{}, shape_for(q.n_max), 1)))
      return error(exec, SXT_E_NOT_SUPPORTED, "order %lld does not fit on chip", (long long)q.n_max);
    const sxt_candidate &launch = chosen ? *candidate : alone;
    const State made{static_cast<std::int32_t>(launch.launch[1]), static_cast<std::int32_t>(launch.launch[2]),
                     static_cast<std::size_t>(launch.launch[3])};
    const sxt_status loaded = with_kernel(
        q.q.value_type, made.shape, [&](auto kernel) { return dense::load_with_shared(exec, kernel, made.shared); });
    return loaded == SXT_OK ? give(new State(made), state) : loaded;
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_hermitian_args>(head);
  if (const sxt_status wrong = check_hermitian_args(args, exec)) return wrong;
  if (args.batch <= 0) return SXT_OK;
  const auto blocks = static_cast<unsigned>(args.batch), threads = static_cast<unsigned>(shapes[state.shape].threads);
  return with_kernel(args.value_type, state.shape, [&](auto kernel) {
    kernel<<<blocks, threads, state.shared, cuda::stream_of(*exec)>>>(dense::set_of(args), args.phase, state.rows);
    return cuda::launched(exec, "hermitian.pivoted_tile.cuda");
  });
}

}  // namespace

const sxt_kernel tile_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN, "hermitian.pivoted_tile.cuda", "cuda",
                            "L D L^H with Bunch-Kaufman pivoting of small systems, a block each, on chip", run);
  k.version = 1;
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.min_level = 80;
  k.term_names = terms;
  k.term_defaults = term_defaults;
  set_calls<State>(k, {applicable, candidates, prepare});
  return k;
}();

}  // namespace sextant::hermitian_pivoted
