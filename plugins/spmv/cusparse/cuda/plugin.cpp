// SPDX-License-Identifier: BSD-3-Clause
// Plugin spmv-cusparse: cuSPARSE's products on CSR, COO, SELL and BSR, to compare with and to fall back on. One kernel
// for each storage format and algorithm; they differ in the storage they read and in the library's functions for it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <memory>

#include "cusparse.hpp"
#include "plugins/formats/bsr.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

namespace sextant::spmv_cusparse {
namespace {

// Beside bytes: the library's time for each entry and row, for the thread of the longest row of SELL, and for putting y
// in order where SELL's rows are sorted. As measured on an H200, until there is a fit.
const char *const terms[] = {"launches",     "stream_bytes",     "gathers",       "sectors",        "flops", "entries",
                             "compute.rows", "tail.longest_row", "memory.detour", "latency.detour", nullptr};
constexpr double longest_row_s = 4e-8, longest_column_s = 1.8e-9, row_s = 1e-12, detour_row_s = 8e-12, detour_s = 2e-6;
// Of BSR: block rows, the copies of vectors to whole blocks, and the blocks of the fullest block row, which one thread
// or a few process in sequence, with a term for each group of sizes: one of these four counts.
const char *const bsr_terms[] = {
    "launches",         "stream_bytes",     "gathers",        "sectors",          "flops",
    "compute.rows",     "memory.detour",    "latency.detour", "tail.blocks_of_2", "tail.blocks_of_3",
    "tail.blocks_of_4", "tail.blocks_of_6", nullptr};
constexpr double bsr_term_defaults[] = {NAN,          NAN,      NAN,    NAN,  NAN,    1e-11,
                                        detour_row_s, detour_s, 3.3e-7, 6e-8, 1.6e-7, 3.7e-7};
// Which one, by the size less 2: blocks of 4 and 5 share a term, as do those of 6 and more.
constexpr int bsr_tail[] = {0, 1, 2, 2, 3, 3, 3};
template <cusparseSpMVAlg_t algorithm>
inline constexpr double entry_s =
    algorithm == CUSPARSE_SPMV_CSR_ALG2 || algorithm == CUSPARSE_SPMV_COO_ALG2 ? 4.5e-12 : 1.6e-12;
// A transposed product adds to the elements of y by atomics: additions of one column wait for each other.
template <cusparseSpMVAlg_t algorithm, bool transposed>
inline constexpr double term_defaults[] = {
    NAN,          NAN,     NAN, NAN, NAN, entry_s<algorithm>, row_s, transposed ? longest_column_s : longest_row_s,
    detour_row_s, detour_s};

const char *const features[] = {"x_sector_miss_unit",
                                "x_sector_miss_cache",
                                "row_nnz_sum_max_of_32_sorted",
                                "row_nnz_max",
                                "sorted_512_of_32",
                                "transpose_row_nnz_max",
                                nullptr};
enum { feature_miss_unit, feature_miss_cache, feature_sell, feature_row_max, feature_sorted, feature_column_max };
const char *const bsr_block_features[] = {"x_sector_miss_unit", "x_sector_miss_cache", SXT_BSR_FEATURES,
                                          SXT_FULLEST_BLOCK_ROW_FEATURES, nullptr};
enum { feature_fills = feature_miss_cache + 1, feature_fullest = feature_fills + n_bsr_features };

// ---- applicability and cost

// Transposes have a separate kernel.
template <Format format, bool transposed>
sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (q.m.matrix_type != q.m.q.value_type)
    return refuse(reason, "a matrix of type %s with vectors of type %s is not offered", value_name(q.m.matrix_type),
                  value_name(q.m.q.value_type));
  if (q.m.rows == 0 || q.m.cols == 0 || q.m.nnz == 0) return refuse(reason, "an empty matrix needs no library");
  if (transposed == (q.op == SXT_NO_TRANSPOSE))
    return refuse(reason, transposed ? "it is for transposes" : "spmv.cusparse.transposed.cuda serves transposes");
  return SXT_OK;
}

// Common to all storage formats: the storage's arrays and the vectors streamed, the elements of x gathered.
sxt_candidate &library_candidate(CandidateList &list, const sxt_spmv_query &q, const sxt_features *found,
                                 const sxt_machine &machine, cusparseSpMVAlg_t algorithm, double stored,
                                 double matrix_bytes) {
  const double nnz = static_cast<double>(q.m.nnz), ends = static_cast<double>(q.m.rows) + static_cast<double>(q.m.cols);
  const double element = static_cast<double>(value_bytes(q.m.q.value_type));
  const double sectors = feature(found, feature_miss_unit), misses = feature(found, feature_miss_cache);
  cuda::CudaCost cost;
  cost.launches = q.n_rhs * 2.0;
  cost.stream_bytes = q.n_rhs * (matrix_bytes + element * ends);
  cost.sectors = q.n_rhs * nnz * (std::isfinite(sectors) ? sectors : 0.4);
  cost.gathers = q.n_rhs * nnz * (std::isfinite(misses) ? misses : 0);
  cost.flops = q.n_rhs * stored * (q.m.q.value_type == SXT_C64 || q.m.q.value_type == SXT_C128 ? 8 : 2);
  cost.working_set = matrix_bytes + q.n_rhs * element * ends;
  sxt_candidate &candidate = cuda::fill(list.add(), machine, machine.units, 256, 1, cost);
  candidate.launch[0] = algorithm;
  candidate.setup_s =
      2e-3 + cost.stream_bytes / machine.stream_rate;  // a handle, and the library's analysis of the matrix
  candidate.state_bytes = sizeof(State);
  return candidate;
}

void add_terms(sxt_candidate &candidate, std::initializer_list<double> terms) {
  for (const double term : terms) candidate.terms[candidate.n_terms++] = term;
}

void add_bsr_candidate(CandidateList &list, const sxt_spmv_query &q, const sxt_features *found,
                       const sxt_machine &machine, cusparseSpMVAlg_t algorithm) {
  // Rows of more blocks of two or four than that are shared by many threads, as times show.
  constexpr double most_walked = 512;
  const BsrChoice choice = bsr_choice(q.m, found, feature_fills);
  const int edge = choice.block ? choice.block : bsr_least;
  const double fill = choice.block ? choice.fill : 2.0 / 3, places = edge * edge;
  const double element = static_cast<double>(value_bytes(q.m.q.value_type)),
               stored = static_cast<double>(q.m.nnz) / fill;
  const double blocks = stored / places, block_rows = std::ceil(static_cast<double>(q.m.rows) / edge);
  sxt_candidate &candidate =
      library_candidate(list, q, found, machine, algorithm, stored, stored * element + 4 * (blocks + block_rows));
  const double fullest = fullest_block_row(found, feature_fullest, edge);
  const double walkers = !(fullest > most_walked) ? 1 : edge == 2 ? 64 : edge == 4 ? 8 : 1;
  const bool detour = q.m.rows % edge != 0 || q.m.cols % edge != 0;
  double tails[4] = {};
  tails[bsr_tail[edge - bsr_least]] = std::isfinite(fullest) ? q.n_rhs * fullest / walkers : 0;
  add_terms(candidate, {q.n_rhs * block_rows, detour ? q.n_rhs * static_cast<double>(q.m.rows) : 0,
                        detour ? 1.0 * q.n_rhs : 0, tails[0], tails[1], tails[2], tails[3]});
}

void add_candidate(CandidateList &list, const sxt_spmv_query &q, const sxt_features *found, const sxt_machine &machine,
                   Format format, cusparseSpMVAlg_t algorithm) {
  const double nnz = static_cast<double>(q.m.nnz), rows = static_cast<double>(q.m.rows);
  const double element = static_cast<double>(value_bytes(q.m.q.value_type)), index = format == Format::coo ? 8 : 4;
  const double sell = feature(found, feature_sell), longest = feature(found, feature_row_max);
  const double stored = format == Format::sell && std::isfinite(sell) ? sell : nnz;
  const double steps = q.op != SXT_NO_TRANSPOSE
                           ? (q.m.symmetry == SXT_GENERAL ? feature(found, feature_column_max) : longest)
                       : format == Format::sell ? longest
                                                : 0;
  const bool detour = format == Format::sell && !(feature(found, feature_sorted) == 0);
  add_terms(library_candidate(list, q, found, machine, algorithm, stored, stored * (element + index) + 4 * rows),
            {q.n_rhs * stored, q.n_rhs * rows, std::isfinite(steps) ? q.n_rhs * steps : 0, detour ? q.n_rhs * rows : 0,
             detour ? 1.0 * q.n_rhs : 0});
}

template <Format format, cusparseSpMVAlg_t algorithm>
sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  CandidateList list(out, capacity, count);
  const auto &q = as<sxt_spmv_query>(query);
  if constexpr (format == Format::bsr)
    add_bsr_candidate(list, q, found, *machine, algorithm);
  else
    add_candidate(list, q, found, *machine, format, algorithm);
  return SXT_OK;
}

// ---- states

// The library must be installed, and new enough.
sxt_status check_library(const sxt_exec *exec) {
  const Cusparse &lib = Cusparse::instance();
  if (!lib.is_open()) return error(exec, SXT_E_NOT_SUPPORTED, "cuSPARSE cannot be used: %s", lib.why());
  cusparseHandle_t handle = nullptr;
  int version = 0;
  need(lib.create(&handle), "make a handle");
  const cusparseStatus_t asked = lib.get_version(handle, &version);
  lib.destroy(handle);
  need(asked, "tell its version");
  if (version >= Cusparse::least_version) return SXT_OK;
  return error(exec, SXT_E_NOT_SUPPORTED, "cuSPARSE %d is installed, %d or later is needed", version,
               Cusparse::least_version);
}

void take_sell(State &state, const sxt_exec *exec) {
  const auto &a = as<sxt_sell>(&state.a->h);
  const auto pointers = static_cast<std::uint64_t>(a.n_slices) + 1;
  const auto *last = static_cast<const std::int64_t *>(a.slice_ptr) + a.n_slices;
  if (a.s.offset_type != SXT_I64 ||
      cuda::fetch(exec, last, "a slice pointer") > std::numeric_limits<std::int32_t>::max())
    throw cuda::Failure(SXT_E_NOT_SUPPORTED, "cuSPARSE is given SELL of fewer than 2^31 stored entries");
  state.slice_ptr = cuda::DeviceArray(exec, pointers * sizeof(std::int32_t), "slice pointers");
  narrow(static_cast<const std::int64_t *>(a.slice_ptr), state.slice_ptr.as<std::int32_t>(),
         static_cast<std::int64_t>(pointers), exec);
  state.detour = a.perm != nullptr;
}

void take_bsr(State &state) {
  const auto &a = as<sxt_bsr>(&state.a->h);
  state.in = (a.s.cols + a.block - 1) / a.block * a.block;
  state.out = a.block_rows * a.block;
  state.detour = state.in != a.s.cols || state.out != a.s.rows;
}

template <Format format, cusparseSpMVAlg_t algorithm>
sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    const sxt_status status = check_library(exec);
    if (status != SXT_OK) return status;
    const auto &q = as<sxt_spmv_query>(problem->query);
    state.format = format;
    state.a = reinterpret_cast<const sxt_storage *>(problem->a);
    state.type = q.m.q.value_type;
    state.op = q.op;
    state.in = q.op == SXT_NO_TRANSPOSE ? q.m.cols : q.m.rows;
    state.out = q.op == SXT_NO_TRANSPOSE ? q.m.rows : q.m.cols;
    state.algorithm = algorithm;
    if (format == Format::sell) take_sell(state, exec);
    if (format == Format::bsr) take_bsr(state);
    return load_code(state.type, exec);
  });
}

// Descriptors hold the addresses of the values; the storage has refreshed them in place.
sxt_status refresh(void *, const sxt_problem *, const sxt_exec *) { return SXT_OK; }

sxt_status open(const void *state, const sxt_filled *, const sxt_exec *exec, void **out) {
  return cuda::build<Session>(exec, out, [&](Session &session) {
    return open_session(*static_cast<const State *>(state), session, exec), SXT_OK;
  });
}

// ---- products

// Both factors in one space, as the library requires; an absent one is 1 or 0 on the host.
struct Factors {
  const void *alpha, *beta;
  bool on_device;
};

alignas(16) constexpr double one_f64[2] = {1, 0}, zeros[2] = {0, 0};
alignas(16) constexpr float one_f32[2] = {1, 0};
const void *one_of(sxt_value_type type) {
  return type == SXT_F32 || type == SXT_C64 ? static_cast<const void *>(one_f32) : one_f64;
}

Factors factors_of(const State &state, const sxt_spmv_args &args) {
  if (state.detour) return {one_of(state.type), zeros, false};
  const bool alpha_there = args.alpha.value && args.alpha.on_device,
             beta_there = args.beta.value && args.beta.on_device;
  if (alpha_there != beta_there)
    throw cuda::Failure(SXT_E_NOT_SUPPORTED, "cuSPARSE takes both factors from the device or both from the host");
  return {args.alpha.value ? args.alpha.value : one_of(state.type), args.beta.value ? args.beta.value : zeros,
          alpha_there};
}

sxt_status multiply(const State &state, Session &session, const void *x, void *y, const sxt_spmv_args &args,
                    const sxt_exec *exec) {
  const Cusparse &lib = Cusparse::instance();
  const Factors factors = factors_of(state, args);
  const auto element = value_bytes(state.type);
  if (state.detour)
    cuda::need(cudaMemcpyAsync(session.own_x.data(), x, static_cast<std::size_t>(state.a->cols) * element,
                               cudaMemcpyDeviceToDevice, cuda::stream_of(*exec)),
               "copy x");
  need(lib.set_pointer_mode(session.handle,
                            factors.on_device ? CUSPARSE_POINTER_MODE_DEVICE : CUSPARSE_POINTER_MODE_HOST),
       "take the factors");
  need(lib.set_values(session.x, state.detour ? session.own_x.data() : const_cast<void *>(x)), "take x");
  need(lib.set_values(session.y, state.detour ? session.own_y.data() : y), "take y");
  need(lib.spmv(session.handle, operation(state.op, state.type), factors.alpha, session.matrix, session.x, factors.beta,
                session.y, data_type(state.type), state.algorithm, session.buffer.data()),
       "multiply");
  if (!state.detour) return SXT_OK;
  const auto *perm = state.format == Format::sell ? as<sxt_sell>(&state.a->h).perm : nullptr;
  return finish_rows(state.type, state.a->rows, session.own_y.data(), static_cast<const std::int32_t *>(perm), y,
                     args.alpha, args.beta, exec);
}

sxt_status run(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  return cuda::guarded(exec, [&]() -> sxt_status {
    const auto &state = *static_cast<const State *>(opaque);
    auto &session = *static_cast<Session *>(opened);
    const auto &args = as<sxt_spmv_args>(head);
    if (args.op != state.op)
      return error(exec, SXT_E_STATE, "it was prepared for operation %d, not for %d", state.op, args.op);
    need(Cusparse::instance().set_stream(session.handle, cuda::stream_of(*exec)), "take the stream");
    const auto element = static_cast<std::int64_t>(value_bytes(state.type));
    for (std::int32_t r = 0; r < args.n_rhs; ++r) {
      const char *x = static_cast<const char *>(args.x) + r * args.ldx * element;
      char *y = static_cast<char *>(args.y) + r * args.ldy * element;
      if (const sxt_status status = multiply(state, session, x, y, args, exec); status != SXT_OK) return status;
    }
    return SXT_OK;
  });
}

// ---- tables

// repeats: equal bits in every run, as replays of a captured one must have.
template <Format format, cusparseSpMVAlg_t algorithm, bool transposed = false>
sxt_kernel kernel_of(const char *name, const char *description, const char *const *storages, bool repeats) {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, name, "cuda", description, run);
  if (format == Format::bsr) k.version = 3;
  k.flags = repeats ? SXT_KERNEL_BASELINE | SXT_KERNEL_CAPTURABLE : SXT_KERNEL_BASELINE;
  k.storages = storages;
  k.features = format == Format::bsr ? bsr_block_features : features;
  k.term_names = format == Format::bsr ? bsr_terms : terms;
  k.term_defaults = format == Format::bsr ? bsr_term_defaults : term_defaults<algorithm, transposed>;
  set_calls<State>(
      k, {applicable<format, transposed>, candidates<format, algorithm>, prepare<format, algorithm>, refresh});
  k.open = open;
  k.close = destroy<Session>;
  return k;
}

const char *const csr_storages[] = {SXT_KIND_STORAGE_CSR, nullptr};
const char *const coo_storages[] = {SXT_KIND_STORAGE_COO, nullptr};
const char *const sell_storages[] = {SXT_KIND_STORAGE_SELL, nullptr};
const char *const bsr_storages[] = {SXT_KIND_STORAGE_BSR, nullptr};

const sxt_kernel csr_1 = kernel_of<Format::csr, CUSPARSE_SPMV_CSR_ALG1>(
    "spmv.cusparse.csr-alg1.cuda", "cuSPARSE on CSR, its first algorithm", csr_storages, false);
const sxt_kernel csr_2 = kernel_of<Format::csr, CUSPARSE_SPMV_CSR_ALG2>(
    "spmv.cusparse.csr-alg2.cuda", "cuSPARSE on CSR, its second algorithm", csr_storages, true);
const sxt_kernel transposed = kernel_of<Format::csr, CUSPARSE_SPMV_CSR_ALG1, true>(
    "spmv.cusparse.transposed.cuda", "cuSPARSE on CSR, transposed", csr_storages, false);
const sxt_kernel coo_1 = kernel_of<Format::coo, CUSPARSE_SPMV_COO_ALG1>(
    "spmv.cusparse.coo-alg1.cuda", "cuSPARSE on COO, its first algorithm", coo_storages, false);
const sxt_kernel coo_2 = kernel_of<Format::coo, CUSPARSE_SPMV_COO_ALG2>(
    "spmv.cusparse.coo-alg2.cuda", "cuSPARSE on COO, its second algorithm", coo_storages, true);
const sxt_kernel sell = kernel_of<Format::sell, CUSPARSE_SPMV_SELL_ALG1>("spmv.cusparse.sell.cuda",
                                                                         "cuSPARSE on sliced ELL", sell_storages, true);
const sxt_kernel bsr = kernel_of<Format::bsr, CUSPARSE_SPMV_BSR_ALG1>("spmv.cusparse.bsr.cuda",
                                                                      "cuSPARSE on dense blocks", bsr_storages, true);

}  // namespace
}  // namespace sextant::spmv_cusparse

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::spmv_cusparse;
  return offer<&csr_1, &csr_2, &transposed, &coo_1, &coo_2, &sell, &bsr>("spmv-cusparse", out);
}
