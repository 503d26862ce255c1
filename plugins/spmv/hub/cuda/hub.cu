// SPDX-License-Identifier: BSD-3-Clause
// spmv.csr.hubs.cuda: power laws. Keeps its own copy of the matrix in the layout of hub_kernels.cuh, and runs one block
// a multiprocessor with the hubs' elements of x in shared memory.
#include <algorithm>
#include <cmath>

#include "hub_build.cuh"
#include "sextant/sdk/describe.hpp"

namespace sextant::spmv_hub_cuda {

using namespace plugin;

namespace {

// Of x in shared memory; the rest is the L1's, which gathers need. Without hubs the kernel still cuts rows evenly.
constexpr std::int64_t hub_bytes[] = {0, 65536, 131072};
constexpr int most_shared = 131072 + 16;  // with the zero for padding

// Registers bound the threads: a lane holds eight entries and their elements of x.
template <class V>
inline constexpr int threads_of = sizeof(V) > 8 ? 512 : 896;
int threads_for(sxt_value_type type) { return type == SXT_C128 ? 512 : 896; }

struct State {
  const sxt_csr *a = nullptr;
  sxt_value_type type = SXT_F64;  // of the vectors
  bool early = false;
  unsigned blocks = 1;
  Arrays arrays;
};
struct Session {
  DeviceArray packets;  // of rows that cross runs
};

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};
const char *const features[] = {"hub_share", "x_sector_miss_unit", "x_sector_miss_cache",
                                "x_tags_32", "empty_rows",         nullptr};
enum { feature_hubs, feature_miss_unit, feature_miss_cache, feature_tags, feature_empty };

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.op != SXT_NO_TRANSPOSE) return refuse(reason, "it sums rows; transposes are not offered");
  if (q.m.cols >= column_bits || q.m.rows >= narrow_limit)
    return refuse(reason, "%lld columns do not fit 30 bits", (long long)std::max(q.m.cols, q.m.rows));
  return check_matrix_types(q.m.q.value_type, q.m.matrix_type, reason);
}

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double nnz = static_cast<double>(q.m.nnz), element = static_cast<double>(value_bytes(q.m.q.value_type));
  const double units = std::max(1, machine->units), cols = static_cast<double>(q.m.cols);
  const std::int64_t chunks = divide_up<std::int64_t>(q.m.nnz, hub_chunk);
  const double cache = static_cast<double>(machine->cache_bytes), x_bytes = element * cols;
  CandidateList list(out, capacity, count);
  for (const std::int64_t bytes : hub_bytes) {
    if (bytes > 0 && bytes + 256 > machine->shared_per_block) continue;
    const double hubs = std::min(cols, static_cast<double>(bytes) / element);
    // The feature is the share of 16384 hubs; fewer serve less, about as their third root.
    const double share = std::min(1.0, feature_or(found, feature_hubs, 0.02) * std::cbrt(hubs / 16384));
    SpmvCost cost;
    cost.passes = q.n_rhs;
    cost.launches = q.n_rhs * (bytes > 0 ? 2.0 : 1.0) + (feature_or(found, feature_empty, 0) > 0);
    cost.matrix_bytes = static_cast<double>(chunks * hub_chunk) * static_cast<double>(value_bytes(q.m.matrix_type) + 4);
    const bool fits = cost.matrix_bytes + x_bytes + element * static_cast<double>(q.m.rows) <= 0.8 * cache;
    const double outside = nnz * (1 - share);
    cost.x_sectors = outside * feature_or(found, feature_miss_unit, 0.6) + hubs * (units * element / 32 + 1);
    cost.x_misses = fits ? 0 : outside * feature_or(found, feature_miss_cache, x_bytes > cache ? 0.2 : 0);
    cost.x_lines = outside * feature_or(found, feature_tags, 0.8);
    cost.lanes = nnz;
    cost.warp_steps = nnz / 32;
    cost.chain = std::max(1.0, nnz / (units * threads_for(q.m.q.value_type) * own_entries));
    sxt_candidate &candidate = fill_spmv(list.add(), q, *machine, units, cost);
    candidate.launch[0] = static_cast<std::int64_t>(units);
    candidate.launch[1] = threads_for(q.m.q.value_type);
    candidate.launch[2] = bytes;
    candidate.launch[3] = may_start_early(*machine);
    candidate.model_class = bytes > 0;
    // Columns are counted and searched, entries coded and placed.
    candidate.setup_s =
        1e-3 + nnz * 60 / machine->stream_rate + nnz / machine->cached_gather_rate + 50 * cols / machine->stream_rate;
    candidate.state_bytes =
        sizeof(State) + static_cast<std::uint64_t>(cost.matrix_bytes) + static_cast<std::uint64_t>(4 * q.m.rows);
    candidate.scratch_bytes = rounded(static_cast<std::uint64_t>(bytes));
  }
  return SXT_OK;
}

// The limit of the kernel's blocks, the same for all states: the most that any of them needs.
template <class K>
void allow_shared(K *runs) {
  int device = 0, limit = 0;
  need(cudaGetDevice(&device), "query the device");
  need(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "query its shared memory");
  need(cudaFuncSetAttribute(runs, cudaFuncAttributeMaxDynamicSharedMemorySize, std::min(limit, most_shared)),
       "reserve shared memory for hubs");
}

// Multiprocessors that this process may use: as many blocks are on the device at once.
unsigned units_here() {
  int device = 0, units = 1;
  need(cudaGetDevice(&device), "query the device");
  need(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device), "count multiprocessors");
  return static_cast<unsigned>(units);
}

template <class V, class M>
void load_code(const sxt_exec *exec) {
  auto *runs = hub_runs<V, M, threads_of<V>>;
  allow_shared(runs);
  const sxt_status status[] = {load(exec, runs), load(exec, collect_hubs<V>), load(exec, scale_columns<V>)};
  for (const sxt_status each : status)
    if (each != SXT_OK) throw Failure(each, "the code of a kernel could not be loaded");
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return build<State>(exec, out, [&](State &state) -> sxt_status {
    const auto &a = as<sxt_csr>(problem->a);
    if (a.s.index_type != SXT_I32 || a.s.space == SXT_SPACE_HOST)
      return error(exec, SXT_E_NOT_SUPPORTED, "it reads CSR with 32-bit columns in device memory");
    state.a = &a;
    state.type = problem->query->value_type;
    const bool given = candidate && candidate->launch[0] > 0;
    const std::int64_t bytes = given ? candidate->launch[2] : hub_bytes[0];
    state.blocks = given ? std::min(static_cast<unsigned>(candidate->launch[0]), units_here()) : 1;
    state.early = candidate && candidate->launch[3];
    const auto element = static_cast<std::int64_t>(value_bytes(state.type));
    const sxt_status status = with_device_pair(state.type, a.s.value_type, [&](auto v, auto m) {
      return load_code<typename decltype(v)::type, typename decltype(m)::type>(exec), SXT_OK;
    });
    if (status != SXT_OK) return status;
    build_arrays(state.arrays, a, static_cast<std::int32_t>(bytes / element),
                 static_cast<std::int64_t>(state.blocks) * threads_for(state.type) / 32, exec);
    return SXT_OK;
  });
}

sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  auto &state = *static_cast<State *>(opaque);
  return guarded(exec, [&] {
    state.a = &as<sxt_csr>(problem->a);
    if (state.arrays.chunks > 0) place_values(state.arrays, *state.a, exec);
    return SXT_OK;
  });
}

sxt_status open(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **out) {
  const auto &state = *static_cast<const State *>(opaque);
  return build<Session>(exec, out, [&](Session &session) -> sxt_status {
    if (state.arrays.following.data() == nullptr) return SXT_OK;
    session.packets = DeviceArray(exec, part_bytes(state.arrays.runs, value_bytes(state.type)), "parts of rows");
    fill_bytes(exec, session.packets.data(), 0, session.packets.bytes(), "clear parts of rows");
    return SXT_OK;
  });
}

template <class V, class M>
sxt_status launch(const State &state, const Session &session, const Product<V> &p, const sxt_exec *exec) {
  const Arrays &arrays = state.arrays;
  V *hubs = static_cast<V *>(exec->scratch);
  const Coded<M> a{arrays.code.as<const std::uint32_t>(),       arrays.values.as<const M>(),
                   arrays.rank_of_run.as<const std::int32_t>(), arrays.row_of_rank.as<const std::int32_t>(),
                   arrays.following.as<const std::int32_t>(),   arrays.chunks};
  const std::size_t shared = (arrays.n_hubs + 1) * sizeof(V);
  sxt_status status = SXT_OK;
  if (arrays.n_hubs > 0)
    status = launch_chained(exec, state.early, "a copy of the hubs", collect_hubs<V>,
                            dim3(divide_up<unsigned>(arrays.n_hubs, 256)), 256, 0,
                            arrays.hub_columns.as<const std::int32_t>(), arrays.n_hubs, p, hubs);
  if (status != SXT_OK) return status;
  // Runs that share rows wait for each other's packets.
  const bool together = a.following != nullptr;
  return launch_chained(exec, "a product with hubs", hub_runs<V, M, threads_of<V>>,
                        Launch{state.early, dim3(state.blocks), threads_of<V>, 0, shared, together}, a, p, hubs,
                        arrays.n_hubs, arrays.empty_rows, session.packets.as<ulonglong2>());
}

sxt_status run(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &session = *static_cast<const Session *>(opened);
  const auto &args = as<sxt_spmv_args>(head);
  return with_device_pair(state.type, state.a->s.value_type, [&](auto v, auto m) -> sxt_status {
    using V = typename decltype(v)::type;
    using M = typename decltype(m)::type;
    const auto p = product_of<V>(args);
    sxt_status status = state.arrays.empty_rows ? scale_outputs(state.a->s.rows, p, exec) : SXT_OK;
    if (state.arrays.chunks == 0) return status;
    for (std::int32_t r = 0; r < args.n_rhs && status == SXT_OK; ++r)
      status = launch<V, M>(state, session, columns_from(p, r, 1), exec);
    return status;
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.csr.hubs.cuda", "cuda",
                            "equal runs of entries, the fullest columns' x in shared memory", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  k.term_defaults = spmv_term_defaults;
  set_calls<State>(k, {applicable, candidates, prepare, refresh});
  k.open = open;
  k.close = destroy<Session>;
  return k;
}();

}  // namespace
}  // namespace sextant::spmv_hub_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::spmv_hub_cuda::kernel>("spmv-hub-cuda", out);
}
