// SPDX-License-Identifier: BSD-3-Clause
// hermitian_toeplitz.recursion.cpu: Hermitian Toeplitz systems by Durbin's recursion and the formula of Gohberg and
// Semencul, one system a thread, all in double precision, refined and checked.
#include "hermitian_toeplitz.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/cpu/simd.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/hermitian.hpp"
#include "toeplitz_table.hpp"

SXT_ISA_TABLE(sextant_hermitian_toeplitz, Table)

using namespace sextant::plugin;
namespace lanes = sextant_hermitian_toeplitz;

namespace {

constexpr int most_refinements = 2;
constexpr std::uint64_t vectors = 9;  // of n + 1 numbers: t, backward, f, g, y, b, x, r, a correction

struct State {
  const lanes::Table *table;
  std::int64_t threads;
};

// Work memory of one thread, in doubles; it holds the solutions of all right-hand sides until all are accepted.
std::uint64_t work_of(std::int64_t n, std::int64_t n_rhs) {
  const auto order = static_cast<std::uint64_t>(n) + 1;
  return 2 * order * (vectors + static_cast<std::uint64_t>(n_rhs)) + 8;
}

// The triangle is read once; the recursion takes three halves of n^2 multiply-adds, the inverse two and a residual one
// for each right-hand side, once and a half where one in two is refined, at half of the peak. In addition every row
// starts two loops in the recursion and about six for a right-hand side, as measured.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_query>(query);
  CpuCost cost;
  cost.stream_bytes = cost.working_set = (q.sum_n2 + q.sum_n1) / 2 * static_cast<double>(value_bytes(q.q.value_type));
  cost.flops = 2 * multiply_add_flops(q.q.value_type) * q.sum_n2 * (1.5 + 4.5 * static_cast<double>(q.n_rhs));
  const double steps = 300 * static_cast<double>(q.batch) + q.sum_n1 * (25 + 65 * static_cast<double>(q.n_rhs));
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    cost.imbalance = hermitian_imbalance(q.batch, threads);
    sxt_candidate &candidate = fill(list.add(), threads, cost);
    candidate.launch[1] = machine->level;
    candidate.terms[5] = steps * cost.imbalance;
    candidate.n_terms = 6;
    candidate.state_bytes = sizeof(State);
    candidate.scratch_bytes = static_cast<std::uint64_t>(threads) * work_of(q.n_max, q.n_rhs) * sizeof(double);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    return give(new State{&lanes::isa_table(isa_level(candidate)), candidate ? candidate->launch[0] : exec->threads},
                state);
  });
}

// The first column of a Toeplitz matrix, or false: the numbers of some diagonal are not equal. Columns are compared
// with the first (lower) or last (upper) one, which holds the numbers in the same order.
template <class T>
bool read_toeplitz(const HermitianSystem<T> &system, sxt_triangle triangle, lanes::Parts t) {
  const std::int64_t n = system.n, ld = system.lda;
  const bool lower = triangle == SXT_LOWER;
  const T *last = system.a + (n - 1) * ld;
  for (std::int64_t j = 0; j < n; ++j) {
    const T *column = system.a + j * ld, *mine = lower ? column + j + 1 : column;
    const T *model = lower ? system.a + 1 : last + (n - 1 - j);
    bool same = std::real(column[j]) == std::real(lower ? system.a[0] : last[n - 1]);
    const std::int64_t count = lower ? n - 1 - j : j;
    for (std::int64_t i = 0; i < count; ++i) same &= mine[i] == model[i];
    if (!same) return false;
  }
  for (std::int64_t k = 0; k < n; ++k) {
    const T value = lower ? system.a[k] : conjugate(last[n - 1 - k]);
    t.re[k] = static_cast<double>(std::real(value));
    t.im[k] = k == 0 ? 0 : static_cast<double>(std::imag(value));
  }
  return true;
}

// One system on one thread.
template <class T>
class Solve {
 public:
  Solve(const HermitianSystem<T> &system, const sxt_hermitian_args &args, const lanes::Table &table, double *work)
      : system_(system), args_(args), call_(table.of[is_complex<T>]), work_(work), order_(system.n + 1) {
    s_.n = system.n;
    s_.definite = args.definiteness == SXT_HERMITIAN_DEFINITE;
    s_.t = take(), s_.backward = take(), s_.f = take(), s_.g = take(), s_.y = take();
    b_ = take(), x_ = take(), r_ = take(), correction_ = take();
  }

  // The info.
  std::int32_t run() {
    if (!read_toeplitz(system_, args_.triangle, s_.t)) return SXT_HERMITIAN_NOT_TOEPLITZ;
    for (std::int64_t k = 0; k < s_.n; ++k) {
      s_.backward.re[k] = s_.t.re[s_.n - 1 - k];
      s_.backward.im[k] = s_.t.im[s_.n - 1 - k];
    }
    if (!call_.recur(s_)) return SXT_HERMITIAN_NOT_ACCURATE;
    norm_ = row_sum();
    for (std::int64_t r = 0; r < system_.n_rhs; ++r) {
      if (!solve(r)) return SXT_HERMITIAN_NOT_ACCURATE;
      std::copy(x_.re, x_.re + s_.n, solution(r).re);
      std::copy(x_.im, x_.im + s_.n, solution(r).im);
    }
    for (std::int64_t r = 0; r < system_.n_rhs; ++r)  // all are accepted: only now b may change
      for (std::int64_t k = 0; k < s_.n; ++k)
        system_.b[k + r * system_.ldb] = rounded(solution(r).re[k], solution(r).im[k]);
    return 0;
  }

 private:
  using Real = real_of<T>;
  static T rounded(double re, double im) {
    if constexpr (is_complex<T>)
      return T(static_cast<Real>(re), static_cast<Real>(im));
    else
      return static_cast<T>(re);
  }
  lanes::Parts take() {
    const lanes::Parts parts{work_, work_ + order_};
    work_ += 2 * order_;
    return parts;
  }
  lanes::Parts solution(std::int64_t r) const { return {work_ + 2 * r * order_, work_ + (2 * r + 1) * order_}; }
  // The largest sum of a row of |T|.
  double row_sum() const {
    double most = 0, sum = 0;
    for (std::int64_t k = 0; k < s_.n; ++k) sum += size(s_.t, k);
    for (std::int64_t i = 0; i < s_.n; ++i) {  // row i holds t[0 .. i] and t[1 .. n - 1 - i]
      most = std::max(most, sum);
      if (i + 1 < s_.n) sum += size(s_.t, i + 1) - size(s_.t, s_.n - 1 - i);
    }
    return most;
  }
  static double size(lanes::Parts v, std::int64_t k) { return std::hypot(v.re[k], v.im[k]); }
  double largest(lanes::Parts v) const {
    double most = 0;
    for (std::int64_t k = 0; k < s_.n; ++k) most = std::max(most, size(v, k));
    return most;
  }
  // Right-hand side r; false when its backward error stays too large.
  bool solve(std::int64_t r) {
    const T *b = system_.b + r * system_.ldb;
    for (std::int64_t k = 0; k < s_.n; ++k) {
      b_.re[k] = static_cast<double>(std::real(b[k]));
      b_.im[k] = static_cast<double>(std::imag(b[k]));
    }
    call_.apply(s_, b_, x_);
    for (int taken = 0;; ++taken) {
      round();  // the values in the output type are checked
      call_.residual(s_, b_, x_, r_);
      double sum = 0;  // NaN and infinity do not pass for small
      for (std::int64_t k = 0; k < s_.n; ++k) sum += std::abs(r_.re[k]) + (is_complex<T> ? std::abs(r_.im[k]) : 0);
      const double bound = tolerance * (norm_ * largest(x_) + largest(b_));
      if (std::isfinite(sum) && residual_size() <= bound) return true;
      if (taken == most_refinements || !std::isfinite(sum)) return false;
      call_.apply(s_, r_, correction_);
      for (std::int64_t k = 0; k < s_.n; ++k) x_.re[k] += correction_.re[k];
      for (std::int64_t k = 0; k < s_.n && is_complex<T>; ++k) x_.im[k] += correction_.im[k];
    }
  }
  double residual_size() const {
    double most = 0;
    for (std::int64_t k = 0; k < s_.n; ++k) most = std::max(most, std::hypot(r_.re[k], is_complex<T> ? r_.im[k] : 0.0));
    return most;
  }
  void round() {
    for (std::int64_t k = 0; k < s_.n; ++k) {
      const T value = rounded(x_.re[k], is_complex<T> ? x_.im[k] : 0);
      x_.re[k] = static_cast<double>(std::real(value));
      x_.im[k] = static_cast<double>(std::imag(value));
    }
  }

  // Half of the kind's tolerance, so that another order of summation accepts it, too.
  static constexpr double tolerance = SXT_TOEPLITZ_TOLERANCE / 2.0 * std::numeric_limits<Real>::epsilon();
  const HermitianSystem<T> &system_;
  const sxt_hermitian_args &args_;
  const lanes::Functions &call_;
  double *work_;  // remaining entries; in the end the solutions
  std::int64_t order_;
  lanes::System s_{};
  lanes::Parts b_{}, x_{}, r_{}, correction_{};
  double norm_ = 0;
};

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_hermitian_args>(head);
  if (args.batch > 0 && !args.info) return error(exec, SXT_E_ARGUMENT, "info is missing");
  const int team = team_size(state.threads, *exec);
  const std::uint64_t each = work_of(args.n_max, args.n_rhs);
  if (const sxt_status wrong = need_scratch(exec, each * static_cast<std::uint64_t>(team) * sizeof(double)))
    return wrong;
  return with_value_type(args.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_claimed(args.batch, team, [&](std::int64_t s, int thread) {
      const HermitianSystem<T> system = system_of<T>(args, s);
      if (!takes_part(args, s, system) || system.n == 0) return;
      double *work = static_cast<double *>(exec->scratch) + each * static_cast<std::uint64_t>(thread);
      args.info[s] = Solve<T>(system, args, *state.table, work).run();
    });
    return SXT_OK;
  });
}

}  // namespace

namespace sextant::hermitian_toeplitz {

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN_TOEPLITZ, "hermitian_toeplitz.recursion.cpu", "cpu",
                            "Hermitian Toeplitz systems by Durbin's recursion, checked, one system a thread", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_step_terms;
  set_calls<State>(k, {nullptr, candidates, prepare});
  return k;
}();

}  // namespace sextant::hermitian_toeplitz

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  using namespace sextant::hermitian_toeplitz;
  return offer<&kernel, &kind>("hermitian-toeplitz", out);
}
