// SPDX-License-Identifier: BSD-3-Clause
// residual.reference.cpu: b - A x in quadruple precision, one entry after the other, to be read and compared with. It
// shares no arithmetic with the kernels that it checks.
#include "residual_reference.hpp"

#include <cmath>
#include <cstdint>

#include "sextant/sdk/cpu/csr.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/residual.hpp"

using namespace sextant::plugin;
using sextant::residual_reference::Quad;

namespace {

struct State {
  const sxt_csr *a;
};

const char *const storages[] = {SXT_KIND_STORAGE_CSR, nullptr};

// Quadruple precision is computed in software: some 50 ns an entry.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_residual_query>(query);
  CpuCost cost;
  cost.stream_bytes = q.n_rhs * static_cast<double>(q.m.nnz) * 12;
  cost.flops =
      q.n_rhs * static_cast<double>(q.m.nnz + q.m.rows) * 50e-9 * machine->flop_rate_f64 / std::max(1, machine->units);
  cost.working_set = cost.stream_bytes;
  CandidateList list(out, capacity, count);
  fill(list.add(), 1, cost).state_bytes = sizeof(State);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] { return give(new State{&as<sxt_csr>(problem->a)}, state); });
}

Quad magnitude(Quad a) { return a < 0 ? -a : a; }

// The real or imaginary part of b - A x in a row and of |b| + |A| |x|.
struct Part {
  Quad sum, size;
  void add(Quad term) { sum += term, size += magnitude(term); }
};

struct Norm {
  Quad squares = 0, most = 0;
  bool any_nan = false;
  void add(const Quad (&v)[2]) {
    squares += v[0] * v[0] + v[1] * v[1];
    const Quad size = magnitude(v[0]) + magnitude(v[1]);
    if (size != size) any_nan = true;
    if (size > most) most = size;
  }
  double two() const { return static_cast<double>(std::sqrt(static_cast<long double>(squares))); }
  double max() const { return any_nan ? NAN : static_cast<double>(most); }
};

template <class T>
void column(const sxt_csr &a, const T *x, const T *b, T *r, sxt_residual_norms &out) {
  Norm residual, rhs, size;
  std::int64_t longest = 0;
  const T *values = static_cast<const T *>(a.values);
  const auto parts = [](T v, double(&p)[2]) { p[0] = std::real(v), p[1] = std::imag(v); };
  with_csr_indices(a, [&](const auto *row_ptr, const auto *col) {
    for (std::int64_t i = 0; i < a.s.rows; ++i) {
      double bi[2], v[2], xj[2];
      parts(b[i], bi);
      Part part[2] = {{bi[0], magnitude(bi[0])}, {bi[1], magnitude(bi[1])}};
      for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
        parts(values[k], v), parts(x[col[k]], xj);
        part[0].add(-(Quad(v[0]) * xj[0]));
        if constexpr (is_complex<T>) {
          part[0].add(Quad(v[1]) * xj[1]);
          part[1].add(-(Quad(v[0]) * xj[1]));
          part[1].add(-(Quad(v[1]) * xj[0]));
        }
      }
      longest = std::max<std::int64_t>(longest, row_ptr[i + 1] - row_ptr[i]);
      residual.add({part[0].sum, part[1].sum});
      rhs.add({bi[0], bi[1]});
      size.add({part[0].size, part[1].size});
      if (!r) continue;
      if constexpr (is_complex<T>)
        r[i] = {static_cast<real_of<T>>(part[0].sum), static_cast<real_of<T>>(part[1].sum)};
      else
        r[i] = static_cast<T>(part[0].sum);
    }
    return SXT_OK;
  });
  // Beside the rounding of the norms to double: 2^-112 for each addition in a row, with a margin.
  constexpr double rounding = 0x1p-51, least = 0x1p-1070;
  const double sums = static_cast<double>(2 * longest + 8) * 0x1p-110;
  out = {residual.two(), 0, residual.max(), 0, rhs.two(), 0, rhs.max(), 0, size.two(), size.max()};
  out.bound_2 = rounding * out.norm_2 + sums * out.size_2 + least;
  out.bound_max = rounding * out.norm_max + sums * out.size_max + least;
  out.rhs_bound_2 = rounding * out.rhs_2 + least;
  out.rhs_bound_max = rounding * out.rhs_max + least;
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *) {
  const sxt_csr &a = *static_cast<const State *>(opaque)->a;
  const auto &args = as<sxt_residual_args>(head);
  return with_value_type(a.s.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int32_t c = 0; c < args.n_rhs; ++c)
      column(a, static_cast<const T *>(args.x) + c * args.ldx, static_cast<const T *>(args.b) + c * args.ldb,
             args.r ? static_cast<T *>(args.r) + c * args.ldr : nullptr, args.norms[c]);
    return SXT_OK;
  });
}

}  // namespace

namespace sextant::residual_reference {

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_RESIDUAL, "residual.reference.cpu", "cpu",
                            "b - A x on CSR entry by entry in quadruple precision, one thread", run);
  k.flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC;
  k.storages = storages;
  k.term_names = cpu_terms;
  set_calls<State>(k, {sextant::residual::has_one_type, candidates, prepare, refresh_pointer<State>});
  return k;
}();

}  // namespace sextant::residual_reference

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::residual_reference;
  return offer<&kernel, &kind>("residual-reference", out);
}
