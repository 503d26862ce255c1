// SPDX-License-Identifier: BSD-3-Clause
// hermitian.lapack.cpu: LAPACK's xPOTRF/xPOTRS or xSYTRF/xHETRF and their solves, one system a thread. The baseline of
// every other CPU kernel of this kind, and the fastest of them for large orders.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>

#include "library.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/hermitian.hpp"

using namespace sextant::plugin;

namespace {

using sextant::hermitian_lapack::Lapack;

constexpr int most_threads = OwnBlas::most_callers;
constexpr std::int64_t block = 64;  // columns of xSYTRF's work space

std::uint64_t column_bytes(std::int64_t n, sxt_value_type type) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(1, n)) * value_bytes(type);
}

// A column more than the threads use: the complex xGEMV that OpenBLAS up to 0.3.23 calls in xHETRF reads one element
// of a row too far (https://github.com/OpenMathLib/OpenBLAS/issues/4013).
std::uint64_t scratch_bytes(std::int64_t n, sxt_value_type type, int threads) {
  return (static_cast<std::uint64_t>(threads) * block + 1) * column_bytes(n, type);
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_hermitian_query>(query);
  if (q.definiteness == SXT_HERMITIAN_TRY_DEFINITE)
    return refuse(reason, "definite first, then indefinite, is composed of the two");
  if (q.definiteness == SXT_HERMITIAN_SIGNED) return refuse(reason, "LAPACK pivots sets that are not definite");
  if (q.n_max > std::numeric_limits<int>::max() / block || q.n_rhs > std::numeric_limits<int>::max())
    return refuse(reason, "order %lld with %lld right-hand sides is beyond LAPACK's integers", (long long)q.n_max,
                  (long long)q.n_rhs);
  return SXT_OK;
}

// Beside the flops, at five eighths of the peak, a call takes steps that grow with the order and, for panels and
// copies, with its square, as measured with OpenBLAS; calibration replaces the coefficients.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_hermitian_query>(query);
  const double square = multiply_add_flops(q.q.value_type) > 2 ? 4.5 : 2.5;
  const double steps = 500 * static_cast<double>(q.batch) + 60 * q.sum_n1 + square * q.sum_n2;
  CandidateList list(out, capacity, count);
  for_thread_counts(*machine, [&](int threads) {
    if (threads > most_threads) return;
    CpuCost cost;
    cost.stream_bytes = cost.working_set = hermitian_bytes(q);
    cost.flops = 1.6 * hermitian_flops(q);
    cost.imbalance = hermitian_imbalance(q.batch, threads);
    sxt_candidate &candidate = fill(list.add(), threads, cost);
    candidate.model_class = static_cast<std::uint32_t>(8 * q.definiteness + 2 * q.phase + (threads > 1));
    candidate.terms[5] = steps * cost.imbalance;
    candidate.n_terms = 6;
    candidate.state_bytes = sizeof(Team);
    if (q.definiteness == SXT_HERMITIAN_INDEFINITE)
      candidate.scratch_bytes = scratch_bytes(q.n_max, q.q.value_type, threads);
  });
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *slots,
                   const sxt_exec *exec, void **state) {
  try {
    if (!Lapack::instance().is_open())
      return error(exec, SXT_E_NOT_SUPPORTED, "LAPACK cannot be used (apt-get install libopenblas0): %s",
                   Lapack::instance().why());
  } catch (const std::bad_alloc &) {  // a later call opens it
    return error(exec, SXT_E_MEMORY, "LAPACK could not be opened now: memory is short");
  }
  return prepare_team(problem, candidate, slots, exec, state);
}

// LAPACK's info as definite_verdict() takes it: libraries differ in whether a NaN stops them.
template <class T>
std::int32_t definite_pivot(const HermitianSystem<T> &system, int info) {
  const std::int64_t reached = info > 0 ? info : system.n;
  for (std::int64_t j = 0; j < reached; ++j)
    if (!std::isfinite(std::real(system.a[j + j * system.lda]))) return static_cast<std::int32_t>(-j - 1);
  return info;
}

// LAPACK compares complex numbers by |re| + |im|, and divides by them by way of such sums: where one leaves the range
// it takes a wrong pivot, or divides by infinity, and says nothing. Real numbers have no such sums.
template <class T>
bool sums_in_range(const T *values, std::int64_t count, real_of<T> most) {
  bool within = true;
  if constexpr (is_complex<T>)
    for (std::int64_t i = 0; i < count; ++i)
      within &= std::abs(std::real(values[i])) + std::abs(std::imag(values[i])) <= most;
  return within;
}

// What an elimination may add: entries beyond the largest number over this are scaled down for it.
constexpr int room = 16;

// Of the stated triangle of A.
template <class T>
bool entries_in_range(const HermitianSystem<T> &system, sxt_triangle triangle) {
  constexpr real_of<T> most = std::numeric_limits<real_of<T>>::max() / room;
  for (std::int64_t j = 0; j < system.n; ++j) {
    const std::int64_t begin = triangle == SXT_LOWER ? j + 1 : 0, end = triangle == SXT_LOWER ? system.n : j;
    const T *const column = system.a + j * system.lda;
    if (!sums_in_range(column + begin, end - begin, most)) return false;
    if (is_complex<T> && std::abs(std::real(column[j])) > most) return false;
  }
  return true;
}

// The columns that were eliminated are those of L times D's blocks: none may have come near the end of the range.
template <class T>
bool columns_in_range(const HermitianSystem<T> &system, sxt_triangle triangle) {
  using R = real_of<T>;
  constexpr R most = std::numeric_limits<R>::max() / 8;
  if constexpr (!is_complex<T>) return true;
  const auto at = [&](std::int64_t i, std::int64_t j) { return system.a + i + j * system.lda; };
  const bool lower = triangle == SXT_LOWER;
  for (std::int64_t j = 0, last = 0; j < system.n; j = last + 1) {
    last = system.pivots[j] < 0 && j + 1 < system.n ? j + 1 : j;
    R block = std::max(abs1(*at(j, j)), abs1(*at(last, last)));
    if (last > j) block = std::max(block, abs1(lower ? *at(last, j) : *at(j, last)));
    if (!(block <= most)) return false;
    const R allowed = most / std::max<R>(1, block);
    for (std::int64_t k = j; k <= last; ++k)
      if (!sums_in_range(lower ? at(last + 1, k) : at(0, k), lower ? system.n - last - 1 : j, allowed)) return false;
  }
  return true;
}

// LAPACK's solve divides by what stands beside the diagonal in D.
template <class T>
bool blocks_have_sizes(const HermitianSystem<T> &system, sxt_triangle triangle) {
  for (std::int64_t j = 0; j + 1 < system.n; ++j) {
    if (system.pivots[j] > 0) continue;
    if (!std::isfinite(abs1(system.a[triangle == SXT_LOWER ? j + 1 + j * system.lda : j + (j + 1) * system.lda])))
      return false;
    ++j;
  }
  return true;
}

// The stated triangle times a power of two; and D of a factor alone.
template <class T>
void scale_triangle(const HermitianSystem<T> &system, sxt_triangle triangle, real_of<T> by) {
  for (std::int64_t j = 0; j < system.n; ++j) {
    const std::int64_t begin = triangle == SXT_LOWER ? j : 0, end = triangle == SXT_LOWER ? system.n : j + 1;
    for (std::int64_t i = begin; i < end; ++i) system.a[i + j * system.lda] *= by;
  }
}
template <class T>
void scale_blocks(const HermitianSystem<T> &system, sxt_triangle triangle, real_of<T> by) {
  for (std::int64_t j = 0; j < system.n; ++j) {
    system.a[j + j * system.lda] *= by;
    if (system.pivots[j] > 0 || j + 1 == system.n) continue;
    system.a[triangle == SXT_LOWER ? j + 1 + j * system.lda : j + (j + 1) * system.lda] *= by;
    ++j;
    system.a[j + j * system.lda] *= by;
  }
}

template <class T>
std::int32_t factor(const Lapack::Functions &call, const sxt_hermitian_args &args, const HermitianSystem<T> &system,
                    void *work) {
  const char uplo = args.triangle == SXT_LOWER ? 'L' : 'U';
  const int n = static_cast<int>(system.n), lda = static_cast<int>(system.lda);
  int info = 0;
  const bool finite = all_finite(system, args.triangle);
  if (args.definiteness == SXT_HERMITIAN_DEFINITE) {
    call.factor(&uplo, &n, system.a, &lda, &info, 1);
    return definite_verdict(definite_pivot(system, info), finite);
  }
  if (!finite) return SXT_HERMITIAN_NOT_FINITE;
  const bool near_end = !entries_in_range(system, args.triangle);
  if (near_end) scale_triangle(system, args.triangle, 1 / real_of<T>{room});
  const int work_size = static_cast<int>(n * block);
  call.pivoted_factor(&uplo, &n, system.a, &lda, system.pivots, work, &work_size, &info, 1);
  if (!columns_in_range(system, args.triangle)) return SXT_HERMITIAN_NOT_FINITE;
  if (near_end) scale_blocks(system, args.triangle, real_of<T>{room});
  // LAPACK calls a pivot that is NaN singular.
  const bool usable = info > 0 ? all_finite(system, args.triangle) : is_usable_factor(system, args.triangle);
  return usable && blocks_have_sizes(system, args.triangle) ? info : SXT_HERMITIAN_NOT_FINITE;
}

template <class T>
void solve(const Lapack::Functions &call, const sxt_hermitian_args &args, const HermitianSystem<T> &system) {
  const char uplo = args.triangle == SXT_LOWER ? 'L' : 'U';
  const int n = static_cast<int>(system.n), lda = static_cast<int>(system.lda);
  const int n_rhs = static_cast<int>(system.n_rhs), ldb = static_cast<int>(system.ldb);
  int info = 0;
  if (n_rhs == 0) return;
  if (args.definiteness == SXT_HERMITIAN_DEFINITE)
    call.solve(&uplo, &n, &n_rhs, system.a, &lda, system.b, &ldb, &info, 1);
  else
    call.pivoted_solve(&uplo, &n, &n_rhs, system.a, &lda, system.pivots, system.b, &ldb, &info, 1);
}

template <class T>
void work_on(const sxt_hermitian_args &args, std::int64_t s, void *work) {
  const HermitianSystem<T> system = system_of<T>(args, s);
  if (!takes_part(args, s, system) || system.n == 0) return;
  const Lapack::Functions &call = Lapack::instance().of[args.value_type - 1];
  if (factors(args.phase)) args.info[s] = factor(call, args, system, work);
  if (solves(args.phase) && args.info[s] == 0) solve(call, args, system);
}

bool beyond_int(std::int64_t uniform, const std::int64_t *each, std::int64_t batch) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  return each ? std::any_of(each, each + batch, [](std::int64_t ld) { return ld > most; }) : uniform > most;
}

sxt_status run(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_hermitian_args>(head);
  if (const sxt_status wrong = check_hermitian_args(args, exec)) return wrong;
  if (beyond_int(args.lda, args.lda_each, args.batch) || beyond_int(args.ldb, args.ldb_each, args.batch))
    return error(exec, SXT_E_NOT_SUPPORTED, "a leading dimension is beyond LAPACK's integers");
  const int team = std::min(team_size(state, *exec), most_threads);
  const bool pivots = args.definiteness == SXT_HERMITIAN_INDEFINITE;
  if (const sxt_status wrong = need_scratch(exec, pivots ? scratch_bytes(args.n_max, args.value_type, team) : 0))
    return wrong;
  const std::uint64_t each = pivots ? block * column_bytes(args.n_max, args.value_type) : 0;
  return with_value_type(args.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    // Systems differ in order, so they are taken as threads become free; which thread does one changes no bit.
    for_each_claimed(args.batch, team, [&](std::int64_t s, int thread) {
      work_on<T>(args, s, static_cast<char *>(exec->scratch) + each * static_cast<std::uint64_t>(thread));
    });
    return SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_HERMITIAN, "hermitian.lapack.cpu", "cpu",
                            "LAPACK (OpenBLAS where it is there), one system a thread", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.term_names = cpu_step_terms;
  set_calls<Team>(k, {applicable, candidates, prepare});
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel>("hermitian-lapack", out);
}
