// SPDX-License-Identifier: BSD-3-Clause
// cholesky.columns.cpu: left-looking on one thread, for matrices with hardly any fill; several sets of values go side
// by side, a thread each. cholesky.columns-on-host.cuda: its selected inverse, of factors that schedulers of a GPU
// made.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <vector>

#include "columns.hpp"
#include "sextant/sdk/cancel.hpp"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant_cholesky_columns;
using sextant_cholesky::set_of;

namespace {

constexpr int most_columns = 8;  // right-hand sides at once

std::int32_t phase_of(const sxt_cholesky_query &q) {
  return q.phase == SXT_CHOLESKY_FACTOR || q.phase == SXT_CHOLESKY_INVERSE ? q.phase : SXT_CHOLESKY_SOLVE;
}

struct State {
  State(const sxt_symbolic &structure, const sxt_cholesky_query &q, std::int64_t on_threads)
      : s(structure),
        owner(static_cast<std::size_t>(structure.n)),
        type(q.m.q.value_type),
        phase(phase_of(q)),
        columns(q.n_rhs > 1 ? most_columns : 1),
        threads(std::max<std::int64_t>(1, on_threads)) {
    find_owners(s, owner.data());
  }
  const sxt_symbolic &s;
  std::vector<Index> owner;  // of each column
  sxt_value_type type;
  std::int32_t phase;
  int columns;           // right-hand sides that the session's memory holds
  std::int64_t threads;  // that work on sets of their own
};

// Of one thread.
std::uint64_t session_bytes(const sxt_cholesky_query &q, std::int64_t n, std::int64_t n_super, std::int64_t max_rows) {
  const std::uint64_t number = value_bytes(q.m.q.value_type);
  if (phase_of(q) == SXT_CHOLESKY_FACTOR) return sizeof(Index) * static_cast<std::uint64_t>(n + 3 * n_super);
  if (phase_of(q) == SXT_CHOLESKY_INVERSE) return number * static_cast<std::uint64_t>(max_rows);
  return number * static_cast<std::uint64_t>(n) * (q.n_rhs > 1 ? most_columns : 1);
}

std::int64_t threads_of(const sxt_candidate &candidate) { return std::max<std::int64_t>(1, candidate.launch[0]); }

// Of several: each on lines of its own.
std::uint64_t stride_of(std::uint64_t each, std::int64_t threads) { return threads > 1 ? (each + 63) / 64 * 64 : each; }

struct Session {
  Session(const State &known, const sxt_exec *exec, std::uint64_t each, std::int64_t threads = 1)
      : state(known),
        stride(stride_of(each, threads)),
        memory(exec, SXT_SPACE_HOST, stride * static_cast<std::uint64_t>(threads)) {}
  template <class T>
  T *own(int rank) const {
    return reinterpret_cast<T *>(memory.as<char>() + stride * static_cast<std::uint64_t>(rank));
  }
  Lists lists(int rank) const {
    Index *const begin = own<Index>(rank);
    const sxt_symbolic &s = state.s;
    return {begin, begin + s.n, begin + s.n + s.n_super, begin + s.n + 2 * s.n_super};
  }
  const State &state;
  std::uint64_t stride;  // bytes from one thread's memory to the next
  Memory memory;
};

template <class T>
sxt_status factor_set(const Session &session, int rank, const sxt_cholesky_args &args, std::int64_t set,
                      const sxt_exec &exec) {
  const sxt_symbolic &s = session.state.s;
  T *const l = set_of<T>(args.factor, args.stride_factor, set);
  Failure failure = sextant_cholesky::scatter_set(s, args, set, l);
  std::int64_t changed = 0;
  if (failure.column < 0) {
    const Lists lists = session.lists(rank);
    const PivotRule rule = sextant_cholesky::pivot_rule(args);
    const bool ended = Factor<T>(s, session.state.owner.data(), lists, rule, l)
                           .run(
                               [&](std::int64_t j) {
                                 if (args.pivots && changed < args.pivots_capacity)
                                   args.pivots[set * args.pivots_capacity + changed] = j;
                                 ++changed;
                               },
                               [&] { return is_cancelled(exec.cancel); }, failure);
    if (!ended) return SXT_NOT_CONVERGED;
  }
  args.failed_column[set] = failure.column;
  args.failed_pivot[set] = failure.pivot;
  args.changed[set] = changed;
  return SXT_OK;
}

// Up to K right-hand sides, b of the first of them; what is missing of K is solved for as 0.
template <class T, int K>
void solve_group(const sxt_symbolic &s, const sxt_cholesky_args &args, const T *l, T *b, std::int64_t count, T *x) {
  const bool unit = args.factors == SXT_FACTORS_LDLH, whole = args.phase == SXT_CHOLESKY_SOLVE;
  const bool from_caller = whole || args.phase == SXT_CHOLESKY_FORWARD;
  const bool to_caller = whole || args.phase == SXT_CHOLESKY_BACKWARD;
  for (std::int64_t k = 0; k < s.n; ++k)
    for (int c = 0; c < K; ++c) x[k * K + c] = c < count ? b[c * args.ldb + (from_caller ? s.perm[k] : k)] : T(0);
  if (from_caller) forward<T, K>(s, l, unit, x);
  if (unit && (whole || args.phase == SXT_CHOLESKY_DIAGONAL)) divide_by_pivots<T, K>(s, l, x);
  if (to_caller) backward<T, K>(s, l, unit, x);
  for (std::int64_t k = 0; k < s.n; ++k)
    for (int c = 0; c < count; ++c) b[c * args.ldb + (to_caller ? s.perm[k] : k)] = x[k * K + c];
}

template <class T>
sxt_status solve_set(const Session &session, int rank, const sxt_cholesky_args &args, std::int64_t set,
                     const sxt_exec &exec) {
  const T *const l = set_of<T>(static_cast<const void *>(args.factor), args.stride_factor, set);
  T *const b = set_of<T>(args.b, args.stride_b, set), *const x = session.own<T>(rank);
  const int width = args.n_rhs > 1 ? session.state.columns : 1;
  for (std::int64_t r = 0; r < args.n_rhs; r += width) {
    if (is_cancelled(exec.cancel)) return SXT_NOT_CONVERGED;
    const std::int64_t count = std::min<std::int64_t>(width, args.n_rhs - r);
    if (width == 1)
      solve_group<T, 1>(session.state.s, args, l, b + r * args.ldb, count, x);
    else
      solve_group<T, most_columns>(session.state.s, args, l, b + r * args.ldb, count, x);
  }
  return SXT_OK;
}

template <class T>
sxt_status invert_set(const Session &session, const sxt_cholesky_args &args, std::int64_t set, const sxt_exec &exec) {
  const bool ended = Inverse<T>(session.state.s, session.state.owner.data(),
                                set_of<T>(static_cast<const void *>(args.factor), args.stride_factor, set),
                                args.factors == SXT_FACTORS_LDLH, set_of<T>(args.inverse, args.stride_inverse, set),
                                session.memory.as<T>())
                         .run([&] { return is_cancelled(exec.cancel); });
  return ended ? SXT_OK : SXT_NOT_CONVERGED;
}

template <class T>
sxt_status run_set(const Session *session, int rank, const sxt_symbolic &s, const sxt_cholesky_args &args,
                   std::int64_t set, const sxt_exec &exec) {
  if (args.phase == SXT_CHOLESKY_PIVOTS) {
    const T *const l = set_of<T>(static_cast<const void *>(args.factor), args.stride_factor, set);
    sextant_cholesky::tell_pivots(s, l, args.factors == SXT_FACTORS_LLH,
                                  set_of<real_of<T>>(args.b, args.stride_b, set));
    return SXT_OK;
  }
  if (args.phase == SXT_CHOLESKY_FACTOR) return factor_set<T>(*session, rank, args, set, exec);
  if (args.phase == SXT_CHOLESKY_INVERSE) return invert_set<T>(*session, args, set, exec);
  return solve_set<T>(*session, rank, args, set, exec);
}

// Each set is taken by the thread that is free; none begins after one that failed.
template <class F>
sxt_status for_sets(std::int64_t sets, int threads, F &&f) {
  std::atomic<std::int64_t> next{0};
  std::atomic<sxt_status> worst{SXT_OK};
  in_team(static_cast<int>(std::clamp<std::int64_t>(sets, 1, threads)), [&](int rank, int) {
    while (worst.load(std::memory_order_relaxed) == SXT_OK) {
      const std::int64_t set = next.fetch_add(1, std::memory_order_relaxed);
      if (set >= sets) return;
      if (const sxt_status status = f(set, rank)) worst.store(status, std::memory_order_relaxed);
    }
  });
  return worst.load(std::memory_order_relaxed);
}

sxt_status run(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_cholesky_args>(head);
  const State &state = *static_cast<const State *>(opaque);
  if (const sxt_status wrong = sextant_cholesky::check(args, state.s, exec)) return wrong;
  if (const sxt_status wrong = sextant_cholesky::check_types(args, state.type, exec)) return wrong;
  const std::int32_t needed = sextant_cholesky::solves(args.phase) ? SXT_CHOLESKY_SOLVE : args.phase;
  if (args.phase != SXT_CHOLESKY_PIVOTS && (!session || state.phase != needed))
    return error(exec, SXT_E_STATE, "the session was opened for phase %d, not for %d", state.phase, needed);
  // The inverse has one thread's memory.
  const int threads = args.phase == SXT_CHOLESKY_INVERSE ? 1 : team_size(state.threads, *exec);
  return with_value_type(args.value_type, [&](auto tag) {
    return for_sets(args.n_sets, threads, [&](std::int64_t set, int rank) {
      return run_set<typename decltype(tag)::type>(static_cast<const Session *>(session), rank, state.s, args, set,
                                                   *exec);
    });
  });
}

void bytes(const sxt_query *query, const sxt_symbolic *symbolic, const sxt_machine *, const sxt_candidate *candidate,
           std::uint64_t *host, std::uint64_t *device) {
  const auto &q = as<sxt_cholesky_query>(query);
  const std::int64_t n = symbolic ? symbolic->n : q.m.rows, threads = candidate ? threads_of(*candidate) : 1;
  const std::uint64_t each =
      session_bytes(q, n, symbolic ? symbolic->n_super : q.n_super, symbolic ? symbolic->max_rows : q.max_rows);
  *host = sizeof(State) + sizeof(Session) + sizeof(Index) * static_cast<std::uint64_t>(n) +
          stride_of(each, threads) * static_cast<std::uint64_t>(threads);
  *device = 0;
}

double inverse_steps(const sxt_cholesky_query &q) {
  return 25 * static_cast<double>(q.n_super) + 6 * static_cast<double>(q.index_size) +
         2.5 * multiply_add_flops(q.m.q.value_type) / 2 * q.flops;
}

// A call; bytes of the factor and of the lists of rows; supernodes, their rows, and columns of vectors, in nanoseconds;
// entries that updates touch, by the width of supernodes: SIMD serves where several columns stand together.
constexpr const char *column_terms[] = {"launches",   "stream_bytes", "steps.supernodes", "steps.rows", "steps.order",
                                        "steps.to_4", "steps.to_16",  "steps.wide",       nullptr};

// Threads share sets.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_cholesky_query>(query);
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), sets = static_cast<double>(q.n_sets);
  const double complex = multiply_add_flops(q.m.q.value_type) / 2, values = static_cast<double>(q.values);
  const double rows = static_cast<double>(q.index_size), n = static_cast<double>(q.m.rows);
  const bool solves = phase_of(q) == SXT_CHOLESKY_SOLVE, several = solves && q.n_rhs > 1;
  const double passes = solves ? static_cast<double>((q.n_rhs + most_columns - 1) / most_columns) : 1;
  const double touched = passes * complex * (several ? 4 : 0.6) * (phase_of(q) == SXT_CHOLESKY_INVERSE ? 4 : 1);
  double entries[3] = {};  // of supernodes of up to 4, 16 and more columns
  for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c)
    entries[std::min(c, 2)] += solves ? q.classes[c].values : q.classes[c].flops;
  CandidateList list(out, capacity, count);
  const auto add = [&](int threads) {
    const double team = static_cast<double>(std::clamp<std::int64_t>(q.n_sets, 1, threads));
    const double busiest = std::ceil(sets / team) * team;  // sets, were all threads as busy as the busiest
    sxt_candidate &c = list.add();
    sextant_cholesky::put_terms(
        c, column_terms,
        {1, busiest * passes * 2 * (values * number + 4 * rows),
         busiest * passes * (solves ? 20 : 25) * static_cast<double>(q.n_super),
         busiest * passes * (several ? 4 : 1) * rows, solves ? busiest * passes * (several ? 4 : 1) * n : 0,
         busiest * touched * entries[0], busiest * touched * entries[1], busiest * touched * entries[2]});
    c.launch[0] = threads;
    c.units = static_cast<std::int64_t>(team);
    c.working_set_bytes = std::max(1.0, sets) * values * number;
    c.model_class = static_cast<std::uint32_t>(2 * phase_of(q) + several);
    c.setup_s = 1e-9 * n;
    c.state_bytes =
        sizeof(State) + sizeof(Session) + sizeof(Index) * static_cast<std::uint64_t>(q.m.rows) +
        stride_of(session_bytes(q, q.m.rows, q.n_super, q.max_rows), threads) * static_cast<std::uint64_t>(threads);
  };
  if (q.n_sets > 1 && phase_of(q) != SXT_CHOLESKY_INVERSE)
    for_thread_counts(*machine, add);
  else
    add(1);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&]() -> sxt_status {
    if (!problem->data || !is_kind(*problem->data, SXT_KIND_SYMBOLIC))
      return error(exec, SXT_E_ARGUMENT, "the problem has no symbolic structure");
    return give(new State(as<sxt_symbolic>(problem->data), as<sxt_cholesky_query>(problem->query),
                          candidate ? threads_of(*candidate) : 1),
                state);
  });
}

sxt_status open(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **session) {
  const State &state = *static_cast<const State *>(opaque);
  return guard(exec, [&] {
    sxt_cholesky_query q{};
    q.m.q.value_type = state.type, q.phase = state.phase, q.n_rhs = state.columns;
    return give(new Session(state, exec, session_bytes(q, state.s.n, state.s.n_super, state.s.max_rows), state.threads),
                session);
  });
}

sxt_kernel table(const char *name, const char *device, const char *description, decltype(sxt_kernel::run) run_it) {
  static const sxt_cholesky_ops ops = {sizeof ops, bytes};
  sxt_kernel k = new_kernel(SXT_KIND_CHOLESKY, name, device, description, run_it);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_COMMON_FACTOR;
  k.ops = &ops;
  set_calls<State>(k, {nullptr, candidates, prepare});
  k.open = open;
  k.close = destroy<Session>;
  return k;
}

const sxt_kernel kernel = [] {
  sxt_kernel k =
      table("cholesky.columns.cpu", "cpu", "left-looking, one thread a set, for matrices with hardly any fill", run);
  k.term_names = column_terms;
  k.candidates = candidates;
  return k;
}();

// ---- on the host of a GPU ----

// What an inversion needs, before the copies of the factor and of its inverse.
std::uint64_t scratch_bytes(std::uint64_t number, std::int64_t max_rows) {
  return (number * static_cast<std::uint64_t>(max_rows) + 63) / 64 * 64;
}

sxt_status inverse_alone(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return as<sxt_cholesky_query>(query).phase == SXT_CHOLESKY_INVERSE ? SXT_OK
                                                                     : refuse(reason, "it computes inverses alone");
}

void bytes_on_host(const sxt_query *query, const sxt_symbolic *symbolic, const sxt_machine *, const sxt_candidate *,
                   std::uint64_t *host, std::uint64_t *device) {
  const auto &q = as<sxt_cholesky_query>(query);
  const std::int64_t n = symbolic ? symbolic->n : q.m.rows, values = symbolic ? symbolic->values : q.values;
  const std::uint64_t number = value_bytes(q.m.q.value_type);
  *host = sizeof(State) + sizeof(Session) + sizeof(Index) * static_cast<std::uint64_t>(n) +
          scratch_bytes(number, symbolic ? symbolic->max_rows : q.max_rows) +
          2 * number * static_cast<std::uint64_t>(values);
  *device = 0;
}

sxt_status candidates_on_host(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                              sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  constexpr double byte_s = 1e-10, step_s = 1e-9;  // over the bus; of one thread
  const auto &q = as<sxt_cholesky_query>(query);
  const double number = static_cast<double>(value_bytes(q.m.q.value_type));
  CandidateList list(out, capacity, count);
  sxt_candidate &c = list.add();
  c.launch[0] = 1;
  c.run_s =
      static_cast<double>(q.n_sets) * (step_s * inverse_steps(q) + 2 * byte_s * static_cast<double>(q.values) * number);
  std::uint64_t device = 0;
  bytes_on_host(query, nullptr, nullptr, nullptr, &c.state_bytes, &device);
  return SXT_OK;
}

// Sets one after the other: down, inverted, up.
sxt_status run_on_host(const void *opaque, void *session, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_cholesky_args>(head);
  const State &state = *static_cast<const State *>(opaque);
  if (const sxt_status wrong = sextant_cholesky::check(args, state.s, exec)) return wrong;
  if (const sxt_status wrong = sextant_cholesky::check_types(args, state.type, exec)) return wrong;
  if (args.phase != SXT_CHOLESKY_INVERSE) return error(exec, SXT_E_ARGUMENT, "it computes inverses alone");
  const std::uint64_t number = value_bytes(args.value_type);
  const std::uint64_t size = static_cast<std::uint64_t>(state.s.values) * number;
  const auto &mine = *static_cast<const Session *>(session);
  const sxt_host &host = *exec->host;
  sxt_cholesky_args here = args;
  here.factor = mine.memory.as<char>() + scratch_bytes(number, state.s.max_rows);
  here.inverse = static_cast<char *>(here.factor) + size;
  for (std::int64_t set = 0; set < args.n_sets; ++set) {
    const auto at = [&](void *array, std::int64_t stride) {
      return static_cast<char *>(array) + static_cast<std::uint64_t>(set * stride) * number;
    };
    sxt_status status = host.copy(&host, exec, here.factor, at(args.factor, args.stride_factor), size);
    if (status == SXT_OK) status = host.synchronize(&host, exec);
    if (status == SXT_OK)
      status = with_value_type(
          args.value_type, [&](auto tag) { return invert_set<typename decltype(tag)::type>(mine, here, 0, *exec); });
    if (status == SXT_OK) status = host.copy(&host, exec, at(args.inverse, args.stride_inverse), here.inverse, size);
    if (status == SXT_OK) status = host.synchronize(&host, exec);
    if (status != SXT_OK) return status;
  }
  return SXT_OK;
}

sxt_status open_on_host(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **session) {
  const State &state = *static_cast<const State *>(opaque);
  const std::uint64_t number = value_bytes(state.type);
  return guard(exec, [&] {
    return give(
        new Session(state, exec,
                    scratch_bytes(number, state.s.max_rows) + 2 * number * static_cast<std::uint64_t>(state.s.values)),
        session);
  });
}

const sxt_kernel for_gpu = [] {
  sxt_kernel k =
      table("cholesky.columns-on-host.cuda", "cuda", "selected inverses on the host of a GPU, one thread", run_on_host);
  static const sxt_cholesky_ops ops = {sizeof ops, bytes_on_host};
  k.ops = &ops;
  k.open = open_on_host;
  k.applicable = inverse_alone;
  k.candidates = candidates_on_host;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel, &for_gpu>("cholesky-columns", out);
}
