// SPDX-License-Identifier: BSD-3-Clause
// storage.csr.cuda: the matrix's CSR copied to the device, columns as i32, offsets as i32 below 2^31 nonzeros. Other
// storages convert from this copy where the matrix holds it. A permuted copy takes its values from the other one.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "permuted.cuh"
#include "sextant/plugin/kinds/storage_permuted.h"
#include "sextant/sdk/cuda/storage.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/storage_kernel.hpp"

using namespace sextant::plugin;
using namespace sextant::storage_csr_cuda;
namespace cuda = sextant::plugin::cuda;

namespace {

struct State {
  cuda::DeviceCsr csr;
  cuda::DeviceArray from;  // of P A P^T: the position of each entry in A
};
const cuda::DeviceCsr &of(const void *state) { return static_cast<const State *>(state)->csr; }

// Core copies large arrays on several threads, about four times as fast as the driver's one (measured on one H200
// beside 16 cores).
double upload_seconds(const sxt_machine &machine, double bytes) {
  constexpr double large = 4 << 20, gain = 4;
  return bytes / machine.copy_rate / (bytes < large ? 1 : gain);
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return cuda::check_narrow(as<sxt_matrix_query>(query), reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double offset = q.nnz < cuda::narrow_limit ? 4 : 8, nnz = static_cast<double>(q.nnz);
  const double arrays[] = {nnz * static_cast<double>(value_bytes(q.matrix_type)), nnz * 4,
                           offset * static_cast<double>(q.rows + 1)};
  double bytes = 0, way_s = 0;
  for (const double array : arrays) bytes += array, way_s += upload_seconds(*machine, array);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.setup_s = cuda::conversion_seconds(*machine, q, 10, 0, 0) + way_s;
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(bytes);
  candidate.working_set_bytes = bytes;
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    state.csr = cuda::DeviceCsr(*problem, exec, cuda::Life::state);
    return SXT_OK;
  });
}

sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  return cuda::guarded(exec, [&]() -> sxt_status {
    const State &state = *static_cast<const State *>(opaque);
    if (!state.from.data()) return state.csr.take_values(*problem, exec), SXT_OK;
    const sxt_csr *a = cuda::Source::device_csr(*problem);
    if (!a) return error(exec, SXT_E_ARGUMENT, "a permuted matrix takes its values from the other one on the device");
    state.csr.source().check_pattern(*a);
    return gather_values(state.csr, *a, state.from.data(), exec), SXT_OK;
  });
}

const sxt_storage *view(const void *state) { return &of(state).view().s; }
std::uint64_t bytes(const void *state) { return of(state).bytes() + static_cast<const State *>(state)->from.bytes(); }

template <class T>
struct Scale {
  T *values;
  const std::int32_t *col;
  const cuda::Real<T> *s;
  __device__ void operator()(std::int64_t i, std::int64_t k, std::int64_t) const {
    // s[i] s[j] first: the mirror image of an entry gets the same bits.
    values[k] = cuda::times(values[k], s[i] * s[col[k]]);
  }
};

sxt_status scale(void *state, const void *s, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] {
    const cuda::DeviceCsr &csr = of(state);
    cuda::with_device_type(csr.view().s.value_type, [&](auto tag) {
      using T = decltype(tag);
      cuda::visit(exec, csr.source(), csr.all(),
                  Scale<T>{static_cast<T *>(csr.values()), csr.all().col, static_cast<const cuda::Real<T> *>(s)});
    });
    return SXT_OK;
  });
}

template <class T>
struct Diagonal {
  const T *values;
  const std::int32_t *col;
  T *out;
  __device__ void operator()(std::int64_t i, std::int64_t k, std::int64_t) const {
    if (col[k] == i) out[i] = values[k];
  }
};

sxt_status diagonal(const void *state, void *out, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] {
    const cuda::DeviceCsr &csr = of(state);
    const sxt_storage &a = csr.view().s;
    cuda::fill_bytes(exec, out, 0, std::min(a.rows, a.cols) * value_bytes(a.value_type), "clear a diagonal");
    cuda::with_device_type(a.value_type, [&](auto tag) {
      using T = decltype(tag);
      cuda::visit(exec, csr.source(), csr.all(),
                  Diagonal<T>{static_cast<const T *>(csr.values()), csr.all().col, static_cast<T *>(out)});
    });
    return SXT_OK;
  });
}

sxt_status permuted(const void *opaque, const void *perm, const sxt_exec *exec, void **out) {
  const sxt_csr &a = of(opaque).view();
  if (a.s.rows != a.s.cols)
    return error(exec, SXT_E_NOT_SQUARE, "a matrix of %lld x %lld has no common order of its rows and columns",
                 (long long)a.s.rows, (long long)a.s.cols);
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    state.csr = cuda::DeviceCsr(a.s, exec, cuda::Life::state);
    state.from = cuda::DeviceArray(exec, a.s.nnz * index_bytes(a.s.offset_type), "where entries come from");
    if (a.s.offset_type == SXT_I32)
      permute_pattern(a, perm, state.csr, state.from.as<std::int32_t>(), exec);
    else
      permute_pattern(a, perm, state.csr, state.from.as<std::int64_t>(), exec);
    gather_values(state.csr, a, state.from.data(), exec);
    return SXT_OK;
  });
}

// Besides the arrays, read and written: a sector for the new number of each column, and one for each value; for a row
// scattered accesses to its pointers, columns and values; memory that the pool may have to map; and for each entry the
// comparisons with those of its row, or of a bitonic sort of long rows, taken to be all as long as the mean.
double permuted_seconds(const sxt_matrix_query *query, const sxt_machine *machine) {
  constexpr double row_gathers = 5, map_byte_s = 0.3e-12;
  constexpr double stage_comparisons = 100;  // cost of a stage of a sort in shared memory, an entry
  const double rows = static_cast<double>(query->rows), nnz = static_cast<double>(query->nnz),
               length = nnz / std::max(1.0, rows), bytes = cuda::csr_bytes(*query) + 4 * nnz;
  const double comparisons =
      nnz * (length > short_row ? stage_comparisons * std::ceil(std::log2(std::min<double>(length, tile))) : length);
  return cuda::conversion_seconds(*machine, *query, 20, 2, cuda::csr_bytes(*query) + 8 * nnz) +
         2 * nnz / std::max(1.0, machine->sector_rate) + row_gathers * rows / std::max(1.0, machine->gather_rate) +
         map_byte_s * bytes + 2 * comparisons / std::max(1.0, machine->flop_rate_f64);
}

const sxt_storage_permuted_ops ops = {{sizeof ops, view, bytes, scale, diagonal, nullptr}, permuted, permuted_seconds};

const sxt_kernel kernel = [] {
  sxt_kernel k = new_storage<State>(SXT_KIND_STORAGE_CSR, "storage.csr.cuda", "cuda", "compressed rows on the device",
                                    {&ops.one, nullptr, applicable, candidates, prepare, refresh});
  k.flags |= SXT_KERNEL_PERMUTED;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("storage-csr-cuda", out);
}
