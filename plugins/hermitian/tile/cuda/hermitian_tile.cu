// SPDX-License-Identifier: BSD-3-Clause
// hermitian.tile.cuda: which sets fit on chip, the cost of each shape of threads, and the launch.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "hermitian_tile.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/hermitian_query.hpp"
#include "tile_worker.cuh"

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;

namespace sextant::hermitian_tile {
namespace {

constexpr const char *terms[] = {"launches",         "stream_bytes",    "compute.columns",
                                 "compute.products", "compute.rows",    "latency.products",
                                 "latency.rows",     "latency.columns", nullptr};
constexpr std::uint32_t n_terms = sizeof terms / sizeof *terms - 1;
// Seconds on one H200: resources for which the systems of a multiprocessor compete (a block column, product and row of
// blocks), and latencies.
const double term_defaults[] = {NAN, NAN, 1.5e-9, 3e-10, 2e-10, 1.5e-7, 1e-6, 2.2e-6, NAN};
constexpr std::int64_t reserved_shared = 1024;

int block_rows(std::int64_t n) { return static_cast<int>((n + side - 1) / side); }

std::size_t group_bytes(const sxt_hermitian_query &q, const Places &places) {
  std::size_t bytes = 0;
  dense::with_number(q.q.value_type, [&](auto tag) {
    bytes = shared_bytes<typename decltype(tag)::type>(block_rows(q.n_max), places, solves(q.phase) ? q.n_rhs : 0);
    return SXT_OK;
  });
  return bytes;
}

// Whether the right-hand side is carried along as a vector. In a set of mixed orders the part of the factor left in
// shared memory after the last column differs.
bool carries(const sxt_hermitian_query &q) {
  return q.phase == SXT_HERMITIAN_FACTOR_SOLVE && q.n_rhs == 1 && !q.orders_vary;
}
// Places that fit in this many bytes.
int places_in(std::int64_t bytes, const sxt_hermitian_query &q) {
  const auto without = static_cast<std::int64_t>(group_bytes(q, Places{})) -
                       static_cast<std::int64_t>(block_rows(q.n_max)) * block_size * value_bytes(q.q.value_type);
  return static_cast<int>((bytes - without) / (block_size * value_bytes(q.q.value_type)));
}

std::uint64_t shared_limit(const sxt_machine &machine) {
  return machine.shared_per_block > 0 ? static_cast<std::uint64_t>(machine.shared_per_block) : 232448;
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *machine, sxt_message *reason) {
  const auto &q = as<sxt_hermitian_query>(query);
  if (q.definiteness != SXT_HERMITIAN_DEFINITE) return refuse(reason, "only positive definite systems");
  if (block_rows(q.n_max) > most_blocks_a_side)
    return refuse(reason, "order %lld is above %d", (long long)q.n_max, most_blocks_a_side * side);
  const std::uint64_t bytes = group_bytes(q, places_for(block_rows(q.n_max)));
  if (bytes > shared_limit(*machine))
    return refuse(reason, "order %lld with %lld right-hand sides needs %llu bytes of shared memory, a block has %llu",
                  (long long)q.n_max, (long long)q.n_rhs, (unsigned long long)bytes,
                  (unsigned long long)shared_limit(*machine));
  return SXT_OK;
}

std::int64_t shared_of_unit(const sxt_machine &machine) {
  return machine.shared_per_unit > 0 ? static_cast<std::int64_t>(machine.shared_per_unit) : 233472;
}
// Blocks of this shape that one multiprocessor holds: by shared memory, and by registers.
std::int64_t resident_blocks(const Shape &shape, std::size_t bytes, const sxt_hermitian_query &q,
                             const sxt_machine &machine) {
  const std::int64_t by_shared =
      shared_of_unit(machine) / (static_cast<std::int64_t>(bytes) * shape.groups + reserved_shared);
  const std::int64_t by_registers = shape.resident(value_bytes(q.q.value_type));
  return std::max<std::int64_t>(1, std::min(by_shared, by_registers));
}
// Where blocks stand. A factor that a back substitution needs keeps as many as fit beside the systems that a
// multiprocessor holds anyway.
Places places_in_shape(const Shape &shape, const sxt_hermitian_query &q, const sxt_machine &machine) {
  const Places least = places_for(block_rows(q.n_max));
  if (!carries(q)) return least;
  const std::int64_t units = std::max(1, machine.units), a_round = units * shape.groups,
                     blocks = std::min(resident_blocks(shape, group_bytes(q, least), q, machine),
                                       std::max<std::int64_t>(1, (q.batch + a_round - 1) / a_round)),
                     bytes = std::min(shared_of_unit(machine) / blocks - reserved_shared,
                                      static_cast<std::int64_t>(shared_limit(machine)));
  return places_for(block_rows(q.n_max), places_in(bytes / shape.groups, q));
}

// The sequential work of a system of this many block rows: products by the warp that has most of them in each block
// column, and rows by the thread that has most of them.
struct Chain {
  double products, rows;
};
Chain chain_of(int block_rows, int warps) {
  Chain chain{};
  for (int q = 0; q < block_rows; ++q) {
    const int below = block_rows - q - 1, others = std::max(1, warps - 1);
    chain.products += q * (warps == 1 ? below + 1 : std::max(1, (below + others - 1) / others));
    chain.rows += (below * side + 32 * warps - 1) / (32 * warps);
  }
  return chain;
}

// The terms of a set of as many systems as one of mean order makes, in this shape.
void fill_terms(sxt_candidate &candidate, const sxt_hermitian_query &q, const Shape &shape, double resident,
                double units) {
  const double batch = static_cast<double>(std::max<std::int64_t>(1, q.batch)),
               rounds = std::max(1.0, std::ceil(batch / (resident * units))),
               blocks = std::max(1.0, static_cast<double>(candidate.launch[0])), busy = std::min(blocks, units),
               systems = busy * std::ceil(blocks / busy) * shape.groups;  // as if all were as busy as the busiest one
  const int rows = block_rows(static_cast<std::int64_t>(std::ceil(q.sum_n1 / batch)));
  const double columns = rows, pairs = columns * (columns - 1) / 2, triples = pairs * (columns + 1) / 3;
  const Chain chain = chain_of(rows, shape.warps);
  // A back substitution after a factorisation takes part of its time again; two alone have no products.
  const double again = q.phase != SXT_HERMITIAN_FACTOR_SOLVE || q.n_rhs == 0 ? 1 : carries(q) ? 1.2 : 1.35;
  candidate.n_terms = n_terms;
  candidate.terms[0] = 1;
  candidate.terms[1] = hermitian_bytes(q) * (q.triangle == SXT_UPPER && factors(q.phase) ? 1.3 : 1);
  candidate.terms[2] = systems * columns * again;
  candidate.terms[3] = factors(q.phase) ? systems * triples : 0;
  candidate.terms[4] = systems * pairs * again;
  candidate.terms[5] = factors(q.phase) ? rounds * chain.products * again : 0;
  candidate.terms[6] = rounds * chain.rows * again;
  candidate.terms[7] = rounds * columns * (solves(q.phase) ? 2 : 1);
  candidate.units = busy;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_query>(query);
  CandidateList list(out, capacity, count);
  for (std::int32_t s = 0; s < n_shapes; ++s) {
    const Shape &shape = shapes[s];
    const std::size_t bytes = group_bytes(q, places_in_shape(shape, q, *machine));
    if (bytes * shape.groups > shared_limit(*machine)) continue;
    sxt_candidate &candidate = list.add();
    candidate.launch[0] = (q.batch + shape.groups - 1) / shape.groups;
    candidate.launch[1] = shape.warps * 32 * shape.groups;
    candidate.launch[2] = s;
    candidate.launch[3] = static_cast<std::int64_t>(bytes) * shape.groups;
    candidate.model_class = static_cast<std::uint32_t>(4 * q.phase + s);
    const double resident = static_cast<double>(resident_blocks(shape, bytes, q, *machine) * shape.groups);
    fill_terms(candidate, q, shape, resident, std::max(1, machine->units));
    candidate.working_set_bytes = hermitian_bytes(q);
    candidate.state_bytes = sizeof(Launch);
  }
  return SXT_OK;
}

sxt_status launch_config(const sxt_query *, const sxt_candidate *candidate, const sxt_machine *,
                         sxt_launch_config *out) {
  *out = {candidate->launch[0], candidate->launch[1], candidate->launch[3], 128, candidate->run_s};
  return SXT_OK;
}

// The default shape where none was chosen: a warp for every two block rows.
std::int32_t usual_shape(int rows) { return rows <= 2 ? 0 : rows <= 4 ? 1 : rows <= 9 ? 2 : 3; }

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    const auto &q = as<sxt_hermitian_query>(problem->query);
    const int rows = block_rows(q.n_max);
    const bool chosen = candidate && candidate->launch[0] > 0;
    Launch launch{};
    launch.shape = chosen ? static_cast<std::int32_t>(candidate->launch[2]) : usual_shape(rows);
    launch.carries = carries(q);
    const int most = chosen && launch.carries ? places_in(candidate->launch[3] / shapes[launch.shape].groups, q) : 0;
    launch.places = places_for(rows, most);
    if (launch.carries) launch.way = way_back_for(rows, most);
    launch.buffers = panels_at_once(rows, launch.places);
    launch.group_bytes = static_cast<std::uint32_t>(group_bytes(q, launch.places));
    const sxt_status loaded = dense::with_number(
        q.q.value_type, [&](auto tag) { return load_tile<typename decltype(tag)::type>(launch, exec); });
    return loaded == SXT_OK ? give(new Launch(launch), state) : loaded;
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &launch = *static_cast<const Launch *>(opaque);
  const auto &args = as<sxt_hermitian_args>(head);
  if (const sxt_status wrong = check_hermitian_args(args, exec)) return wrong;
  if (args.batch <= 0) return SXT_OK;
  return dense::with_number(args.value_type, [&](auto tag) {
    enqueue_tile<typename decltype(tag)::type>(launch, dense::set_of(args), args.phase, cuda::stream_of(*exec));
    return cuda::launched(exec, "hermitian.tile.cuda");
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN, "hermitian.tile.cuda", "cuda",
                            "Cholesky of small systems in shared memory, 16 columns at a time", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.version = 3;
  k.min_level = 80;
  k.term_names = terms;
  k.term_defaults = term_defaults;
  set_calls<Launch>(k, {applicable, candidates, prepare});
  k.launch_config = launch_config;
  return k;
}();

}  // namespace
}  // namespace sextant::hermitian_tile

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&sextant::hermitian_tile::kernel>("hermitian-tile-cuda", out);
}
