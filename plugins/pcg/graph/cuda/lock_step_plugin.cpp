// SPDX-License-Identifier: BSD-3-Clause
// The edge and the model of the engine in lock_step.hpp: a kernel without slots, and one with a slot for M.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "lock_step.hpp"
#include "model.hpp"
#include "plugins/pcg/shared/columns.hpp"
#include "plugins/pcg/shared/cuda/pcg.hpp"
#include "sextant/sdk/describe.hpp"

namespace graph {
namespace {

namespace plugin = sextant::plugin;
namespace cuda = plugin::cuda;

// Measured on one H200 (README.md). Two kernels at least, each begun while its predecessor ends; then bytes at a share
// of the memory's or the cache's rate, or the values of p for the entries, which are mostly cached.
constexpr double kernels_s = 8e-6, doubled_s = 0.14e-6;  // and for twice as many columns
constexpr double rate_share = 0.89, gather_share = 0.54;
// At the same time warps of the product take rows in rounds, each a chain of loads: row pointers, then entries and
// their values of p, some at a time. The extra time of the longest row is that of one warp.
constexpr double round_s = 0.83e-6, chunk_s = 0.57e-6, longest_chunk_s = 0.19e-6;
constexpr double overlap = 2.4;                           // power of the sum of both
constexpr double values_a_row = 10;                       // read and written, of each column
constexpr double host_s = 12e-6, column_host_s = 0.4e-6;  // between two blocks, and more for each column
constexpr double stall_s = 100e-6;                        // of all, while one of several is confirmed
constexpr double capture_s = 1.2e-6;                      // of a kernel
constexpr double slot_s = 1e-6;                           // a slot more, even if it stays empty
constexpr double m_values_a_row = 8;  // more of them where M is applied: of z, and of inner products,
constexpr double m_kernel_s = 2e-6;   // which are then a separate kernel

// The time of M, and of the other work of an iteration: inner products are then a separate kernel.
double preconditioner_s(const sxt_pcg_query &query, const sxt_machine &machine, double m_s) {
  const double n = static_cast<double>(query.m.rows), nnz = static_cast<double>(query.m.nnz),
               value = static_cast<double>(plugin::value_bytes(query.m.q.value_type));
  const double width = width_for(pcg::columns_of(query));
  const bool cached = 6 * n * width * value + nnz * (value + 4) <= 0.8 * static_cast<double>(machine.cache_bytes);
  const double rate = rate_share * std::max(1.0, cached ? machine.cache_rate : machine.stream_rate);
  return m_s + m_kernel_s + m_values_a_row * n * width * value / rate;
}

double iteration_s(const sxt_pcg_query &query, const sxt_features *found, const sxt_machine &machine) {
  const double n = static_cast<double>(query.m.rows), nnz = static_cast<double>(query.m.nnz),
               value = static_cast<double>(plugin::value_bytes(query.m.q.value_type));
  const std::int32_t width = width_for(pcg::columns_of(query));
  const double values = n * width * value, a = nnz * (value + 4) + 4 * n;
  const bool cached = 4 * values + a <= 0.8 * static_cast<double>(machine.cache_bytes);
  const double rate = rate_share * std::max(1.0, cached ? machine.cache_rate : machine.stream_rate);
  const double bytes_s = (a + values_a_row * values) / rate,
               gather_s = nnz * width * value / (gather_share * std::max(1.0, machine.cache_rate));

  const std::uint64_t size = plugin::value_bytes(query.m.q.value_type);
  const int lanes = lanes_for(query.m.rows, query.m.nnz, std::max(1, machine.units), width, size);
  const double at_once = ahead * lanes * columns_a_lane(width, size) / width;  // entries of a row
  const double rounds = std::ceil(n * lanes / (std::max(1, machine.units) * product_threads)),
               chunks = std::ceil(nnz / std::max(1.0, n) / at_once);
  const double longest = plugin::feature(found, 0), most_chunks = longest > 0 ? std::ceil(longest / at_once) : chunks;
  const double chain_s = (rounds - 1) * round_s + std::max(0.0, rounds * chunks - 1) * chunk_s,
               moving_s = std::max(bytes_s, gather_s);
  return kernels_s + std::log2(width) * doubled_s +
         std::pow(std::pow(moving_s, overlap) + std::pow(std::max(0.0, chain_s), overlap), 1 / overlap) +
         std::max(0.0, most_chunks - chunks) * longest_chunk_s;
}

sxt_status applicable(const sxt_query *head, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &query = plugin::as<sxt_pcg_query>(head);
  if (query.m.matrix_type != head->value_type)
    return plugin::refuse(reason, "a matrix of type %s under vectors of type %s is not offered",
                          plugin::value_name(query.m.matrix_type), plugin::value_name(head->value_type));
  if (query.m.nnz > std::numeric_limits<std::int32_t>::max())
    return plugin::refuse(reason, "%lld entries do not fit 32-bit offsets", (long long)query.m.nnz);
  return pcg::check_predict_recompute(query, reason);
}

// Everything beside M is the same as without it.
sxt_status applicable_with_m(const sxt_query *head, const sxt_features *features, const sxt_machine *machine,
                             sxt_message *reason) {
  sxt_pcg_query query = plugin::as<sxt_pcg_query>(head);
  query.m.q.h.struct_size = sizeof query;
  query.preconditioned = 0;
  return applicable(&query.m.q, features, machine, reason);
}

// slots: NULL, or M's.
sxt_status candidates(const sxt_query *head, const sxt_features *found, const sxt_machine *machine,
                      const sxt_filled *slots, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &query = plugin::as<sxt_pcg_query>(head);
  const bool m = query.preconditioned != 0;
  plugin::CandidateList list(out, capacity, count);
  if (m && (!slots || slots[0].alternative < 0)) return SXT_NOT_APPLICABLE;
  const std::int32_t columns = pcg::columns_of(query);
  const double iteration =
                   iteration_s(query, found, *machine) + (m ? preconditioner_s(query, *machine, slots[0].run_s) : 0),
               iterations = pcg::iterations_of(query), between = host_s + columns * column_host_s;
  sxt_candidate &candidate = list.add();
  const std::int64_t block = block_length(iterations, iteration, between);
  const double length = static_cast<double>(block), half = static_cast<double>(short_block(block));
  candidate.launch[0] = block;
  candidate.run_s = (iterations + half) * iteration + std::ceil(iterations / length) * between +
                    (columns > 1 ? columns * stall_s : 0);
  candidate.setup_s = (m ? 5 : 2) * (length + half) * capture_s + (slots ? slot_s : 0);
  candidate.state_bytes = columns_bytes(query.m.rows, query.m.q.value_type, columns, m);
  candidate.working_set_bytes = static_cast<double>(candidate.state_bytes);
  return SXT_OK;
}

sxt_status take_matrix(ColumnsState &state, const sxt_problem *problem, const sxt_exec *exec) {
  if (!problem->a || !plugin::is_kind(*problem->a, SXT_KIND_STORAGE_CSR))
    return plugin::error(exec, SXT_E_ARGUMENT, "the engine needs the matrix as %s", SXT_KIND_STORAGE_CSR);
  state.a = plugin::as<sxt_csr>(problem->a);
  if (state.a.s.index_type == SXT_I32 && state.a.s.offset_type == SXT_I32) return SXT_OK;
  return plugin::error(exec, SXT_E_NOT_SUPPORTED, "columns or offsets are stored as 64-bit numbers");
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<ColumnsState>(exec, out, [&](ColumnsState &state) {
    const auto &query = plugin::as<sxt_pcg_query>(problem->query);
    state.type = query.m.q.value_type;
    state.n = query.m.rows;
    state.block = std::max<std::int64_t>(1, candidate->launch[0]);
    state.columns = pcg::columns_of(query);
    state.preconditioned = query.preconditioned != 0;
    return take_matrix(state, problem, exec);
  });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  return take_matrix(*static_cast<ColumnsState *>(state), problem, exec);
}

sxt_status run_columns(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] {
    const auto &state = *static_cast<const ColumnsState *>(opaque);
    if (const auto status = pcg::check_columns(state.n, state.columns, head, exec); status != SXT_OK) return status;
    LockStep(state, *static_cast<ColumnsSession *>(session), plugin::as<sxt_pcg_columns_args>(head), *exec).run();
    return static_cast<sxt_status>(SXT_OK);
  });
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const ColumnsState *>(opaque);
  if (const auto status = pcg::check_args(head, state.n, exec); status != SXT_OK) return status;
  sxt_pcg_columns_args all{};
  all.h = plugin::head<sxt_pcg_columns_args>(SXT_KIND_PCG);
  all.n = state.n;
  all.n_rhs = 1;
  all.columns = reinterpret_cast<sxt_pcg_args *>(const_cast<sxt_head *>(head));  // results are in the args
  return run_columns(opaque, session, &all.h, exec);
}

const char *const features[] = {"row_nnz_max", nullptr};
const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

}  // namespace

namespace {

sxt_kernel new_kernel(const char *name, const char *description) {
  static const sxt_pcg_columns_ops ops{{sizeof(sxt_pcg_columns_ops), nullptr}, run_columns};
  sxt_kernel k = plugin::new_kernel(SXT_KIND_PCG, name, "cuda", description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_COLUMNS;
  k.value_types = plugin::all_value_types;
  k.storages = storages;
  k.features = features;
  k.ops = &ops.one;
  plugin::set_calls<ColumnsState>(k, {applicable, candidates, prepare, refresh});
  k.open = cuda::open_engine<ColumnsState, ColumnsSession>;
  k.close = plugin::destroy<ColumnsSession>;
  return k;
}

const char *const preconditioner[] = {SXT_KIND_PRECONDITIONER, nullptr};
const sxt_slot m_slot{"M", preconditioner, SXT_KERNEL_CAPTURABLE, 0, 1, 0};

// M for as many columns side by side as a row of the blocks has.
sxt_status slot_query(const sxt_query *head, std::uint64_t slot, std::uint64_t instance, const char *kind, void *out,
                      std::uint64_t capacity) {
  if (slot > 0 || !kind || !out || std::strcmp(kind, SXT_KIND_PRECONDITIONER) != 0) return SXT_E_ARGUMENT;
  if (instance > 0) return SXT_NOT_APPLICABLE;
  const auto &query = plugin::as<sxt_pcg_query>(head);
  sxt_preconditioner_columns_query asked{};
  const sxt_status status = pcg::preconditioner_query(query, &asked.one, sizeof asked.one);
  if (status != SXT_OK) return status;
  asked.one.m.q.h.struct_size = sizeof asked;
  asked.one.m.q.flags |= SXT_QUERY_SIDE_BY_SIDE;
  asked.n_rhs = width_for(pcg::columns_of(query));
  return pcg::write_query(asked, out, capacity);
}

}  // namespace

const sxt_kernel &lock_step_kernel() {
  static const sxt_kernel kernel = new_kernel(
      "pcg.graph-csr.predict-recompute.cuda",
      "predict-and-recompute conjugate gradients in captured blocks, two kernels an iteration, on CSR; up to 32 "
      "right-hand sides in one pass over A");
  return kernel;
}

const sxt_kernel &preconditioned_lock_step_kernel() {
  static const sxt_kernel kernel = [] {
    sxt_kernel k = new_kernel("pcg.graph-csr-m.predict-recompute.cuda",
                              "the same with a preconditioner, applied to all right-hand sides at once");
    k.slots = &m_slot;
    k.n_slots = 1;
    k.applicable = applicable_with_m;
    k.slot_query = slot_query;
    return k;
  }();
  return kernel;
}

}  // namespace graph
