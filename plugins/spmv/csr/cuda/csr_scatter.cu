// SPDX-License-Identifier: BSD-3-Clause
// spmv.csr.scatter.cuda: y = alpha op(A) x + beta y for a transposing op without building a transpose: threads of a row
// add its entries times x[i] to y by atomics, after y was scaled. The order of adding is not fixed, so bits may differ
// from run to run. Bytes: A once a column of x, and a sector read and written an entry.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "csr_state.cuh"
#include "plugins/formats/cuda/scatter.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::spmv_csr_cuda {

using namespace plugin;

namespace {

template <class V, class M, class Offset>
__global__ void __launch_bounds__(256) scatter_rows(Csr<M, Offset> a, cuda::Product<V> p, int lanes) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1), r = blockIdx.y;
  if (i >= a.rows) return;
  const V factor = cuda::times(p.alpha(), p.x[r * p.ldx + i]);
  const Place<Offset> end = a.row_ptr[i + 1];
  for (Place<Offset> k = a.row_ptr[i] + Place<Offset>(lane); k < end; k += lanes)
    cuda::add_atomically(p.y + r * p.ldy + cuda::streamed(a.col + k),
                         cuda::times(entry<V>(cuda::streamed(a.values + k), a.conjugated), factor));
}

sxt_status scatter_applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *machine,
                              sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  if (!reading_of(q.op, q.m.symmetry).transposed)
    return refuse(reason, "nothing is transposed: the kernels that gather do it without atomics");
  return applicable(query, found, machine, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  // Rows are read directly: features describe them, and columns take the place of x.
  sxt_spmv_query plain = q;
  plain.op = SXT_NO_TRANSPOSE;
  Outlook o = outlook_of(plain, found, *machine);
  CandidateList list(out, capacity, count);
  for (const int width : {4, 32}) {
    if (width == 32 && o.mean < 8) continue;
    const int which = std::countr_zero(static_cast<unsigned>(width));
    cuda::SpmvCost cost = cost_of(plain, found, *machine, o, which);
    cost.launches = 2;
    cost.passes = q.n_rhs;
    cost.extra_bytes = 2.0 * q.n_rhs * static_cast<double>(value_bytes(q.m.q.value_type)) * o.cols;
    cost.atomics = o.nnz;
    cost.busiest = cuda::feature_or(found, feature_transpose + feature_row_max, o.cols > 0 ? 4 * o.nnz / o.cols : 0);
    cost.threads = 256;
    cost.resident = 2048;
    sxt_candidate &candidate = list.add();
    candidate.launch[0] = width;
    candidate.launch[1] = 256;
    candidate.model_class = static_cast<std::uint32_t>(which);
    fill(candidate, q, found, *machine, o, which, std::ceil(o.rows * width / 256), std::ceil(o.longest / width), cost);
    candidate.setup_s = 5e-6;
  }
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    const auto &q = as<sxt_spmv_query>(problem->query);
    sxt_spmv_query plain = q;
    plain.op = SXT_NO_TRANSPOSE;  // A is read untransposed
    sxt_problem reads = *problem;
    reads.query = &plain.m.q;
    state.width = 4;
    begin(state, reads, candidate, exec);
    state.op = q.op;
    state.conjugated = q.op == SXT_CONJUGATE_TRANSPOSE;
    return with_csr(state, [&](auto a, auto v) -> sxt_status {
      using V = typename decltype(v)::type;
      using Offset = std::remove_cvref_t<decltype(*a.row_ptr)>;
      using M = std::remove_cvref_t<decltype(*a.values)>;
      const sxt_status status = cuda::load(exec, cuda::scale_columns<V>);
      return status == SXT_OK ? cuda::load(exec, scatter_rows<V, M, Offset>) : status;
    });
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  if (const sxt_status status = check_args(state, args, exec); status != SXT_OK) return status;
  const std::int64_t rows = state.read.s.rows, cols = state.read.s.cols;
  if (cols == 0) return SXT_OK;
  return with_csr(state, [&](const auto &a, auto v) -> sxt_status {
    const auto p = cuda::product_of<typename decltype(v)::type>(args);
    const auto columns = static_cast<unsigned>(args.n_rhs);
    const dim3 scaled(cuda::blocks_for(cols, 256, 1024), columns);
    cuda::scale_columns<<<scaled, 256, 0, cuda::stream_of(*exec)>>>(cols, p.y, p.ldy, p.beta);
    if (rows > 0 && state.read.s.nnz > 0)
      scatter_rows<<<dim3(blocks_of(rows * state.width, 256), columns), 256, 0, cuda::stream_of(*exec)>>>(a, p,
                                                                                                          state.width);
    return cuda::launched(exec, "spmv.csr.scatter.cuda");
  });
}

}  // namespace

const sxt_kernel scatter_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.csr.scatter.cuda", "cuda",
                            "CSR transposed by atomics: no transpose is built, bits may differ from run to run", run);
  // No flags: the order of adding is not fixed, so a replay's bits prove nothing.
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  k.term_defaults = cuda::scatter_term_defaults;
  set_calls<State>(k, {scatter_applicable, candidates, prepare, refresh});
  return k;
}();

}  // namespace sextant::spmv_csr_cuda
