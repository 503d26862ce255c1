// SPDX-License-Identifier: BSD-3-Clause
// preconditioner.jacobi.cuda: M = diag(A)^-1, kept as its square root s on the device: M = S S. Core can scale A with s
// once, and then no iteration applies M. An application reads r and s and writes z: bound by bandwidth.
#include <cstdint>
#include <cstring>

#include "plugins/preconditioner/shared/preconditioner.hpp"
#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/sdk/cuda/storage.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

using namespace sextant::plugin;
using precondition::is_single, precondition::real_bytes;
namespace cuda = sextant::plugin::cuda;

constexpr int threads = 256;

struct State {
  sxt_value_type type;
  std::int64_t n;
  cuda::DeviceArray s, next;  // n reals each: the valid scaling; that of a refresh until every row was accepted
  cuda::DeviceArray bad;      // the first row that is refused; n: none
};

// 1 / sqrt(a_ii) of every row, and the first row whose diagonal entry has no such number.
template <class Stored, class Offset, class Real>
struct Factors {
  const Offset *row_ptr;
  const std::int32_t *col;
  const Stored *values;
  Real *s;
  unsigned long long *bad;
  int parts;  // reals an entry has
  __device__ void operator()(std::int64_t i) const {
    std::int64_t low = row_ptr[i], high = row_ptr[i + 1];
    while (low < high) {  // columns are sorted
      const std::int64_t middle = (low + high) / 2;
      if (col[middle] < i)
        low = middle + 1;
      else
        high = middle;
    }
    const bool there = low < row_ptr[i + 1] && col[low] == i;
    const double re = there ? static_cast<double>(values[parts * low]) : 0;
    const double im = there && parts == 2 ? static_cast<double>(values[parts * low + 1]) : 0;
    const Real factor = static_cast<Real>(1 / sqrt(re));
    s[i] = factor;
    // Written so that NaN fails; a factor beyond the type's range is no scaling either.
    const bool fit = re > 0 && im == 0 && factor > Real(0) && factor - factor == Real(0);
    if (!fit) atomicMin(bad, static_cast<unsigned long long>(i));
  }
};

template <class Real>
struct Apply {
  const Real *s, *r;
  Real *z;
  int parts;
  __device__ void operator()(std::int64_t i) const { z[i] = s[i / parts] * (s[i / parts] * r[i]); }
};

// Calls f(Tag<Stored>{}, Tag<Offset>{}, Tag<Real>{}) with real types: complex entries are two of them.
template <class F>
void with_types(const sxt_csr &a, sxt_value_type vectors, F &&f) {
  const auto with_offset = [&](auto stored, auto real) {
    if (a.s.offset_type == SXT_I64)
      f(stored, Tag<std::int64_t>{}, real);
    else
      f(stored, Tag<std::int32_t>{}, real);
  };
  if (!is_single(a.s.value_type))
    with_offset(Tag<double>{}, Tag<double>{});
  else if (is_single(vectors))
    with_offset(Tag<float>{}, Tag<float>{});
  else
    with_offset(Tag<float>{}, Tag<double>{});
}

// Fills state.next; throws cuda::Failure naming the first row without a factor. Waits for the answer.
void compute(State &state, const sxt_csr &a, const sxt_exec *exec) {
  if (a.s.rows != state.n)
    throw cuda::Failure(SXT_E_DIMENSION, "the matrix has %lld rows, the preconditioner was prepared for %lld",
                        (long long)a.s.rows, (long long)state.n);
  if (a.s.index_type != SXT_I32) throw cuda::Failure(SXT_E_NOT_SUPPORTED, "columns are stored as 64-bit numbers");
  auto *bad = state.bad.as<unsigned long long>();
  cuda::fill_bytes(exec, bad, 0xff, sizeof *bad, "clear a word");
  with_types(a, state.type, [&](auto stored, auto offset, auto real) {
    using Stored = typename decltype(stored)::type;
    using Offset = typename decltype(offset)::type;
    using R = typename decltype(real)::type;
    cuda::visit_all(
        exec, state.n,
        Factors<Stored, Offset, R>{static_cast<const Offset *>(a.row_ptr), static_cast<const std::int32_t *>(a.col),
                                   static_cast<const Stored *>(a.values), state.next.as<R>(), bad,
                                   a.s.value_type == SXT_C64 || a.s.value_type == SXT_C128 ? 2 : 1});
  });
  const auto row = cuda::fetch(exec, bad, "the diagonal's state");
  if (row < static_cast<unsigned long long>(state.n))
    throw cuda::Failure(SXT_E_DIAGONAL,
                        "row %llu (counting from 0) has a diagonal entry that is missing, not positive, not finite or "
                        "not real; Jacobi needs a positive, finite, real diagonal",
                        row);
}

void adopt(State &state, const sxt_exec *exec) {
  cuda::copy(exec, state.s.data(), state.next.data(), state.s.bytes(), "the scaling");
}

sxt_status applicable(const sxt_query *head, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &query = as<sxt_preconditioner_query>(head);
  if (query.method[0] && std::strncmp(query.method, "jacobi", sizeof query.method) != 0)
    return refuse(reason, "this is \"jacobi\", the query asks for \"%.24s\"", query.method);
  if (query.m.rows != query.m.cols)
    return refuse(reason, "the matrix is not square: %lld rows, %lld columns", (long long)query.m.rows,
                  (long long)query.m.cols);
  return SXT_OK;
}

sxt_status candidates(const sxt_query *head, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &query = as<sxt_preconditioner_query>(head);
  const double n = static_cast<double>(query.m.rows);
  cuda::CudaCost cost;
  cost.stream_bytes = n * (2.0 * static_cast<double>(value_bytes(query.m.q.value_type)) +
                           static_cast<double>(real_bytes(query.m.q.value_type)));
  cost.working_set = cost.stream_bytes;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate =
      cuda::fill(list.add(), *machine, cuda::divide_up<std::int64_t>(query.m.rows, threads), threads, 1, cost);
  // A search in every row, and the wait for its answer.
  candidate.setup_s = 4 * machine->launch_s + 20e-6 + 4 * n / machine->gather_rate;
  candidate.state_bytes = 2 * static_cast<std::uint64_t>(query.m.rows) * real_bytes(query.m.q.value_type);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    if (!problem->a || !is_kind(*problem->a, SXT_KIND_STORAGE_CSR))
      return error(exec, SXT_E_ARGUMENT, "Jacobi needs the matrix as %s", SXT_KIND_STORAGE_CSR);
    const auto &a = as<sxt_csr>(problem->a);
    state.type = problem->query->value_type;
    state.n = a.s.rows;
    const std::uint64_t bytes = static_cast<std::uint64_t>(a.s.rows) * real_bytes(state.type);
    state.s = cuda::DeviceArray(exec, bytes, "the scaling");
    state.next = cuda::DeviceArray(exec, bytes, "the scaling");
    state.bad = cuda::DeviceArray(exec, sizeof(unsigned long long), "a word");
    compute(state, a, exec);
    adopt(state, exec);
    return SXT_OK;
  });
}

// A refused refresh leaves the old scaling in force.
sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] {
    State &state = *static_cast<State *>(opaque);
    compute(state, as<sxt_csr>(problem->a), exec);
    adopt(state, exec);
    return SXT_OK;
  });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const State &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_preconditioner_args>(head);
  if (args.n != state.n)
    return error(exec, SXT_E_DIMENSION, "the args have n = %lld, the matrix %lld rows", (long long)args.n,
                 (long long)state.n);
  return cuda::guarded(exec, [&] {
    const int parts = state.type == SXT_C64 || state.type == SXT_C128 ? 2 : 1;
    const auto apply = [&](auto real) {
      using R = typename decltype(real)::type;
      cuda::visit_all(exec, parts * args.n,
                      Apply<R>{state.s.as<R>(), static_cast<const R *>(args.r), static_cast<R *>(args.z), parts});
    };
    if (is_single(state.type))
      apply(Tag<float>{});
    else
      apply(Tag<double>{});
    return SXT_OK;
  });
}

// Loads the code that run launches, which a capture must not do.
sxt_status open(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **session) {
  *session = nullptr;
  return is_single(static_cast<const State *>(opaque)->type) ? cuda::load(exec, cuda::visit_range<Apply<float>>)
                                                             : cuda::load(exec, cuda::visit_range<Apply<double>>);
}

sxt_status scaling(const void *state, const void **s) {
  *s = static_cast<const State *>(state)->s.data();
  return SXT_OK;
}

const sxt_preconditioner_ops ops{sizeof(sxt_preconditioner_ops), "jacobi", scaling, nullptr, 1};

const sxt_kernel kernel = precondition::csr_kernel<State>(
    "preconditioner.jacobi.cuda", "cuda", "the inverse of the diagonal; also as a symmetric scaling of the matrix",
    {applicable, candidates, prepare, refresh, run, open}, &ops, cuda::cuda_terms);

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("preconditioner-jacobi-cuda", out);
}
