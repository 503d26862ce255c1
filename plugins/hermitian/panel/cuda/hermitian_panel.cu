// SPDX-License-Identifier: BSD-3-Clause
// hermitian.panel.cuda: the sets it accepts, the cost for each number of blocks a system, the order of systems, and the
// launch.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hermitian_panel.hpp"
#include "sextant/sdk/cuda/generation.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/hermitian_query.hpp"

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;
namespace dense = sextant::plugin::cuda::dense;

namespace sextant::hermitian_panel {
namespace {

// Large systems first, so that the last ones to run are short: turn[i] is the i-th system to run. One block sorts by
// counting, in steps of four rows; the order of two systems of equal size does not matter.
constexpr int bins = 1024, rows_a_bin = 4;
__global__ void __launch_bounds__(bins)
    order_by_size(std::int64_t batch, const std::int32_t *orders, std::int32_t *turn) {
  __shared__ std::int32_t places[bins];
  const int me = static_cast<int>(threadIdx.x);
  const auto bin_of = [&](std::int64_t i) { return bins - 1 - min(bins - 1, orders[i] / rows_a_bin); };
  places[me] = 0;
  __syncthreads();
  for (std::int64_t i = me; i < batch; i += bins) atomicAdd(&places[bin_of(i)], 1);
  __syncthreads();
  const std::int32_t mine = places[me];
  for (int step = 1; step < bins; step *= 2) {
    const std::int32_t before = me >= step ? places[me - step] : 0;
    __syncthreads();
    places[me] += before;
    __syncthreads();
  }
  const std::int32_t first = places[me] - mine;
  __syncthreads();
  places[me] = first;
  __syncthreads();
  for (std::int64_t i = me; i < batch; i += bins) turn[atomicAdd(&places[bin_of(i)], 1)] = static_cast<std::int32_t>(i);
}

// ---- host side

struct Plan {
  std::int32_t peers;
};

constexpr const char *terms[] = {"launches",
                                 "stream_bytes",
                                 "compute.tensor_f64",
                                 "compute.tensor_f32",
                                 "compute.tile_solves",
                                 "latency.tiles",
                                 "latency.systems",
                                 nullptr};
constexpr std::uint32_t n_terms = sizeof terms / sizeof *terms - 1;
// Seconds on one H200: a flop of a tile's products, in f64 and in f32 as three tf32 products; a byte of tiles solved
// and written; the latency of a tile on the diagonal; that of a system.
const double term_defaults[] = {NAN, NAN, 1 / 45e12, 1 / 70e12, 8e-13, 2e-5, 5e-6, NAN};
constexpr std::int32_t most_peers = 8;
constexpr std::int64_t most_order = 1 << 24, most_blocks = (std::int64_t{1} << 31) - 1;

bool is_double(sxt_value_type type) { return type == SXT_F64 || type == SXT_C128; }
std::int64_t resident_on_unit(sxt_value_type type) {
  std::int64_t resident = 1;
  dense::with_number(type, [&](auto tag) {
    resident = blocks_per_unit<typename decltype(tag)::type>;
    return SXT_OK;
  });
  return resident;
}
std::int64_t shared_of(sxt_value_type type) {
  std::int64_t bytes = 0;
  dense::with_number(type, [&](auto tag) {
    bytes = shared_bytes<typename decltype(tag)::type>();
    return SXT_OK;
  });
  return bytes;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *machine, sxt_message *reason) {
  const auto &q = as<sxt_hermitian_query>(query);
  if (q.definiteness != SXT_HERMITIAN_DEFINITE && q.definiteness != SXT_HERMITIAN_SIGNED)
    return refuse(reason, "only positive definite systems, and those that need no interchanges");
  if (!cuda::compiled_for(machine->level)) return cuda::needs_own_code(*machine, reason);
  if (q.n_max > most_order)
    return refuse(reason, "order %lld is above %lld", (long long)q.n_max, (long long)most_order);
  if (q.batch > most_blocks)
    return refuse(reason, "%lld systems are more than a launch has blocks", (long long)q.batch);
  if (machine->shared_per_block > 0 && machine->shared_per_block < shared_of(q.q.value_type))
    return refuse(reason, "a block has %lld bytes of shared memory, %lld are needed",
                  (long long)machine->shared_per_block, (long long)shared_of(q.q.value_type));
  return SXT_OK;
}

// Bytes from and to memory: panels left of every tile of rows, and those of the columns again for each tile of rows
// that another block works on (blocks of one cluster find them in the last cache); the triangle twice; a solve reads L
// again.
double bytes_moved(const sxt_hermitian_query &q, std::int32_t peers) {
  const double value = static_cast<double>(value_bytes(q.q.value_type));
  double values = 0;
  if (factors(q.phase)) values += q.sum_n3 / (6.0 * tile) * (1 + 1.0 / peers) + q.sum_n2;
  if (solves(q.phase))
    values += q.sum_n2 * (factors(q.phase) ? 0.5 : 1.0) * std::ceil(static_cast<double>(q.n_rhs) / 4);
  return value * values;
}

// The work of one system of the set, in tiles: products of two, solves with a tile on the diagonal, and those
// themselves. The first tile has the rows that tiles of 64 leave, a fraction of a tile; products with it and solves for
// its columns take that fraction.
struct Tiles {
  double products, solves, diagonal;
};
constexpr double on_diagonal = 0.65;  // products for a tile on the diagonal, of whole ones

// Of that, the part of the block of a cluster that has most to do in each column of tiles: the one that factors the
// next diagonal tile, or one of the others. sweep.cuh explains how they share the tiles below.
Tiles busiest_of(double first, std::int64_t whole, std::int32_t peers) {
  Tiles busiest{0, 0, first};
  for (std::int64_t k = 0; k < whole; ++k) {
    const double at = static_cast<double>(k), all = static_cast<double>(whole - k), tile_cost = at + 1.5,
                 diagonal_cost = 0.8 * at + 3.8,
                 own = std::clamp(std::round(((all * tile_cost + diagonal_cost) / peers - diagonal_cost) / tile_cost),
                                  1.0, all),
                 others = std::ceil((all - own) / (peers - 1)), width = k == 0 ? first : 1,
                 depth = k == 0 ? 0 : at - 1 + first;
    const bool owner = own * tile_cost + diagonal_cost > others * tile_cost;
    busiest.products += (owner ? own : others) * depth + (owner ? on_diagonal * (at + first) : 0);
    busiest.solves += (owner ? own : others) * width;
    busiest.diagonal += owner;
  }
  return busiest;
}

// By `peers` blocks each.
Tiles tiles_of(const sxt_hermitian_query &q, std::int32_t peers) {
  const double batch = static_cast<double>(std::max<std::int64_t>(1, q.batch)),
               blocks = std::ceil(static_cast<double>(q.n_max) / inner) * inner / tile;
  if (q.orders_vary) {  // sums over the orders; rounded up to blocks, half of one more on average
    constexpr double more = 0.5 * inner / tile;
    const double x = q.sum_n1 / batch / tile, x2 = q.sum_n2 / batch / tile / tile,
                 x3 = q.sum_n3 / batch / tile / tile / tile, k = x + more, k2 = x2 + 2 * more * x + more * more,
                 k3 = x3 + 3 * more * x2 + 3 * more * more * x + more * more * more;
    return {std::max(0.0, (k3 - 3 * k2 + 2 * k) / 6 + on_diagonal * (k2 - k) / 2) / peers,
            std::max(0.0, (k2 - k) / 2) / peers, k};
  }
  const double whole = std::max(0.0, std::ceil(blocks) - 1), first = blocks - whole;
  if (peers > 1 && factors(q.phase)) return busiest_of(first, static_cast<std::int64_t>(whole), peers);
  const double pairs = whole * (whole - 1) / 2, triples = pairs * (whole - 2) / 3;
  return {(triples + first * pairs + on_diagonal * (pairs + first * whole)) / peers, (pairs + first * whole) / peers,
          blocks};
}

// Whether a block has a warp that brings panels by bulk copies, as far as the query shows what columns_aligned() tests
// on the set itself.
bool copies_columns(const sxt_hermitian_query &q) {
  const bool aligned = q.q.value_type == SXT_C128 || (q.q.value_type == SXT_C64 && q.n_max % 2 == 0 && !q.orders_vary);
  return aligned && lies_in_columns(q.triangle == SXT_UPPER, q.phase, q.n_rhs);
}

// How the terms of c128 stand to one another, against those of the other types: a diagonal tile has four times the
// double instructions of f64, which wait for the tensor cores there.
struct Weights {
  double products, solves, tiles, systems;
  double way_back = 1.3;  // tiles on the diagonal of a factor and solve, met once more; c128 hides that behind others
};
Weights weights_of(const sxt_hermitian_query &q) {
  if (q.q.value_type == SXT_C64 && factors(q.phase) && !copies_columns(q)) return {1.08, 1.08, 1.08, 1};
  if (q.q.value_type != SXT_C128) return {1, 1, 1, 1};
  if (copies_columns(q)) return {0.89, 0.81, 1.41, 0, 1.42};
  if (!factors(q.phase)) return {1, 1, 1, 0.1};
  const double strided = q.triangle == SXT_UPPER ? 1.25 : 1;  // columns of the lower triangle of conj(A)
  return {1.05 * strided, 0.97 * strided, 1.63 * strided, 0, 1.0};
}
std::int64_t threads_of(const sxt_hermitian_query &q) { return copies_columns(q) ? 2 * threads : threads; }

// Rounds of blocks over the places there are. A round that leaves places on multiprocessors free takes less time: fewer
// blocks share their resources. Orders that vary come largest first, and fill it.
struct Rounds {
  double work, way;
};
// The share of a full round's time due to the other blocks. A block whose panels are copied uses the tensor cores
// better alone.
struct SharedParts {
  double work, way;
};
SharedParts shared_parts(const sxt_hermitian_query &q) {
  if (copies_columns(q)) return q.q.value_type == SXT_C128 ? SharedParts{0.8, 0.4} : SharedParts{0.7, 0.2};
  return factors(q.phase) ? SharedParts{0.4, 0.2} : SharedParts{0, 0};
}
Rounds rounds_of(double blocks, double units, double resident, const sxt_hermitian_query &q) {
  const SharedParts shared = shared_parts(q);
  const double places = units * resident, whole = std::floor(blocks / places), rest = blocks - whole * places,
               empty = 1 - std::ceil(rest / units) / resident;
  if (q.orders_vary) return {std::max(1.0, blocks / places), std::max(1.0, blocks / places)};
  if (rest <= 0) return {whole, whole};
  return {whole + 1 - shared.work * empty, whole + 1 - shared.way * empty};
}

// Multiprocessors that clusters find room on at once: those of four blocks and more do not cross groups of
// multiprocessors, whose sizes they seldom divide. On an H200 66 clusters of four take two rounds of 264 places.
double units_for(std::int32_t peers, double units) { return peers < 4 ? units : units - std::floor(units / 32); }

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_query>(query);
  const double units = std::max(1, machine->units), resident = static_cast<double>(resident_on_unit(q.q.value_type)),
               places = units * resident;
  const bool wide = is_double(q.q.value_type), complex = q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128;
  const Weights weights = weights_of(q);
  CandidateList list(out, capacity, count);
  for (std::int32_t peers = 1, doublings = 0; peers <= most_peers; peers *= 2, ++doublings) {
    // A block needs its own tile, and clusters must not have more blocks than there are tiles.
    if (peers > 1 && (q.n_max < tile * peers || q.batch * peers > most_blocks)) break;
    if (machine->blocks_per_cluster > 0 && peers > machine->blocks_per_cluster) break;
    sxt_candidate &candidate = list.add();
    const Tiles tiles = tiles_of(q, peers);
    const Rounds rounds = rounds_of(static_cast<double>(q.batch) * peers, units_for(peers, units), resident, q);
    candidate.launch[0] = q.batch * peers;
    candidate.launch[1] = threads_of(q);
    candidate.launch[2] = peers;
    candidate.launch[3] = shared_of(q.q.value_type);
    candidate.model_class = static_cast<std::uint32_t>(4 * q.phase + doublings);
    candidate.n_terms = n_terms;
    candidate.terms[0] = q.orders_vary ? 2 : 1;
    candidate.terms[1] = bytes_moved(q, peers);
    // All places are busy for as long as one block is: the time of a round does not depend on its number of blocks.
    const double flops = 2.0 * tile * tile * tile * (complex ? 4 : 1),
                 value = static_cast<double>(value_bytes(q.q.value_type));
    if (factors(q.phase))
      candidate.terms[wide ? 2 : 3] = weights.products * rounds.work * places * tiles.products * flops;
    // Tiles that are solved and written; those that a solve streams are as many, and only one block streams them back.
    candidate.terms[4] = weights.solves * rounds.work * places * tiles.solves * tile * tile * value *
                         ((factors(q.phase) ? 1.0 : 0.5) + (solves(q.phase) ? 0.5 * peers : 0));
    // Tiles on the diagonal one after the other; the way back of a solve meets them once more.
    candidate.terms[5] = weights.tiles * rounds.way * tiles.diagonal *
                         (q.phase == SXT_HERMITIAN_FACTOR_SOLVE && q.n_rhs > 0 ? weights.way_back : 1);
    candidate.terms[6] = weights.systems * rounds.way;
    candidate.working_set_bytes = hermitian_bytes(q);
    candidate.units = units;
    candidate.state_bytes = sizeof(Plan);
    candidate.scratch_bytes = q.orders_vary ? sizeof(std::int32_t) * static_cast<std::uint64_t>(q.batch) : 0;
  }
  return SXT_OK;
}

sxt_status launch_config(const sxt_query *query, const sxt_candidate *candidate, const sxt_machine *,
                         sxt_launch_config *out) {
  const std::int64_t registers = 65536 / (candidate->launch[1] * resident_on_unit(query->value_type)) / 8 * 8;
  *out = {candidate->launch[0], candidate->launch[1], candidate->launch[3], std::min<std::int64_t>(255, registers),
          candidate->run_s};
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    const auto &q = as<sxt_hermitian_query>(problem->query);
    Plan plan{1};
    if (candidate && candidate->launch[2] > 0) plan.peers = static_cast<std::int32_t>(candidate->launch[2]);
    if (const sxt_status failed = cuda::load(exec, order_by_size)) return failed;
    const sxt_status loaded =
        dense::with_number(q.q.value_type, [&](auto tag) { return load_panel<typename decltype(tag)::type>(exec); });
    return loaded == SXT_OK ? give(new Plan(plan), state) : loaded;
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &plan = *static_cast<const Plan *>(opaque);
  const auto &args = as<sxt_hermitian_args>(head);
  if (const sxt_status wrong = check_hermitian_args(args, exec)) return wrong;
  if (args.batch <= 0) return SXT_OK;
  std::int32_t *turn = nullptr;
  if (args.orders && exec->scratch &&
      exec->scratch_bytes >= sizeof(std::int32_t) * static_cast<std::uint64_t>(args.batch)) {
    turn = static_cast<std::int32_t *>(exec->scratch);
    order_by_size<<<1, bins, 0, cuda::stream_of(*exec)>>>(args.batch, args.orders_device, turn);
    if (const sxt_status failed = cuda::launched(exec, "hermitian.panel.cuda (order of systems)")) return failed;
  }
  return dense::with_number(args.value_type, [&](auto tag) {
    return enqueue_panel<typename decltype(tag)::type>(dense::set_of(args), turn, args.phase,
                                                       args.definiteness == SXT_HERMITIAN_SIGNED, plan.peers, exec);
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN, "hermitian.panel.cuda", "cuda",
                            "left-looking Cholesky with tensor-core updates, one block or one cluster a system", run);
  k.version = 7;
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.min_level = 90;
  k.term_names = terms;
  k.term_defaults = term_defaults;
  set_calls<Plan>(k, {applicable, candidates, prepare});
  k.launch_config = launch_config;
  return k;
}();

}  // namespace
}  // namespace sextant::hermitian_panel

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&sextant::hermitian_panel::kernel>("hermitian-panel-cuda", out);
}
