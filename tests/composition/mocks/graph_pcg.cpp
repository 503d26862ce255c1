// SPDX-License-Identifier: BSD-3-Clause
// pcg.graph.deferred: one iteration captured when a session opens, replayed in blocks of 8. It reads no matrix: its
// slot "A" is filled by a fused product and inner product, or by one kernel for each.
#include <cstdint>
#include <memory>

#include "pcg_engine.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;
using namespace mock::pcg;

namespace {

constexpr int block = 8;
enum { FUSED = 0, PAIR = 1 };  // alternatives of the slot

struct State {
  std::int64_t n;
};

struct Session {
  sxt_filled a{};  // the parts with their sessions, core's
  Memory vectors, progress, scratch;
  Vectors v{};
  Progress on_host;
  void *stream = nullptr, *graph = nullptr;
  ~Session() {
    if (graph) mock::graph_destroy(graph);
    if (stream) mock::stream_destroy(stream);
  }
};

sxt_status check(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return applicable(as<sxt_pcg_query>(query), reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *slots,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  return mock::one_price(out, capacity, count, expected_iterations(as<sxt_pcg_query>(query)) * (1e-7 + slots[0].run_s));
}

template <class Q>
sxt_status write(void *out, std::uint64_t capacity, const Q &query) {
  if (capacity < sizeof query) return SXT_E_OVERFLOW;
  return *static_cast<Q *>(out) = query, SXT_OK;
}

sxt_status slot_query(const sxt_query *query, std::uint64_t, std::uint64_t, const char *kind, void *out,
                      std::uint64_t capacity) {
  const auto &asked = as<sxt_pcg_query>(query);
  const double runs = expected_iterations(asked) * std::max(1.0, asked.m.q.expected_runs);
  const auto about = [&](sxt_head h) {
    sxt_matrix_query m = asked.m;
    m.q.h = h;
    m.q.expected_runs = runs;
    return m;
  };
  if (!std::strcmp(kind, SXT_KIND_SPMV_DOTS))
    return write(out, capacity,
                 sxt_spmv_dots_query{{about(head<sxt_spmv_dots_query>(kind)), SXT_NO_TRANSPOSE, 1}, 1, 0});
  if (!std::strcmp(kind, SXT_KIND_SPMV))
    return write(out, capacity, sxt_spmv_query{about(head<sxt_spmv_query>(kind)), SXT_NO_TRANSPOSE, 1});
  return write(out, capacity,
               sxt_multidot_query{{head<sxt_multidot_query>(kind), runs, 0, SXT_F64}, asked.m.rows, 1, 2});
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  mock::add("graph engine prepares");
  return guard(exec, [&] { return give(new State{as<sxt_pcg_query>(problem->query).m.rows}, out); });
}

// to = A from, and pq = from'to, by the parts that fill the slot.
sxt_status product(const Session &s, const double *from, double *to, const sxt_exec &exec) {
  auto *w = s.progress.as<Progress>();
  const void *const u[] = {from}, *const v[] = {to};
  sxt_spmv_dots_args fused{};
  sxt_spmv_args &plain = fused.m;
  plain.n_rhs = 1;
  plain.alpha = {&w->one, 1, 0};
  plain.x = from;
  plain.y = to;
  if (s.a.alternative == FUSED) {
    plain.h = head<sxt_spmv_dots_args>(SXT_KIND_SPMV_DOTS);
    fused.n_dots = 1;
    fused.u = u, fused.v = v;
    fused.dots = &w->pq;
    return sextant::plugin::run(*s.a.parts[0], plain.h, exec);
  }
  plain.h = head<sxt_spmv_args>(SXT_KIND_SPMV);
  if (const sxt_status failed = sextant::plugin::run(*s.a.parts[0], plain.h, exec)) return failed;
  const sxt_multidot_args dots{head<sxt_multidot_args>(SXT_KIND_MULTIDOT), s.v.n, 1, 0, u, v, &w->pq};
  return sextant::plugin::run(*s.a.parts[1], dots.h, exec);
}

// On its own stream: others may use exec's meanwhile, and their work must not be captured.
sxt_status capture(Session &s, const sxt_exec &exec) {
  sxt_exec mine = exec;
  mine.stream = s.stream;
  mine.flags |= SXT_EXEC_CAPTURING;
  mine.scratch = s.scratch.data();
  mine.scratch_bytes = s.a.scratch_bytes;
  sxt_status status = mock::capture_begin(s.stream);
  if (status != SXT_OK) return status;
  status = product(s, s.v.p, s.v.q, mine);
  mock::launch(s.stream, [v = s.v, w = s.progress.as<Progress>()] { advance(*w, v); });
  const sxt_status ended = mock::capture_end(s.stream, &s.graph);
  return status != SXT_OK ? status : ended;
}

sxt_status open(const void *state, const sxt_filled *slots, const sxt_exec *exec, void **out) {
  return guard(exec, [&] {
    const std::int64_t n = static_cast<const State *>(state)->n;
    auto session = std::make_unique<Session>();
    session->a = slots[0];
    session->vectors = Memory(exec, SXT_SPACE_DEVICE, 4 * n * sizeof(double));
    session->progress = Memory(exec, SXT_SPACE_DEVICE, sizeof(Progress));
    session->scratch = Memory(exec, SXT_SPACE_DEVICE, slots[0].scratch_bytes);  // exec's is another one at every call
    auto *first = session->vectors.as<double>();
    session->v = {n, first, first + n, first + 2 * n, first + 3 * n};
    session->stream = mock::stream_create();
    const sxt_status captured = capture(*session, *exec);
    return captured == SXT_OK ? give(session.release(), out) : captured;
  });
}

sxt_status run(const void *, void *opaque, const sxt_head *head, const sxt_exec *exec) {
  return guard(exec, [&]() -> sxt_status {
    auto &args = const_cast<sxt_pcg_args &>(as<sxt_pcg_args>(head));
    auto &s = *static_cast<Session *>(opaque);
    if (args.max_iterations > longest)
      return error(exec, SXT_E_ARGUMENT, "more than %lld iterations", (long long)longest);
    auto *device = s.progress.as<Progress>();
    std::int64_t told = 0;
    for (Next next = Next::restart; next != Next::stop;) {
      if (next == Next::restart) {
        begin(args, s.v, device, told ? told - 1 : 0, *exec);
        sxt_exec lent = *exec;  // parts of a captured graph and of this call share only the session's scratch
        lent.scratch = s.scratch.data();
        lent.scratch_bytes = s.a.scratch_bytes;
        if (const sxt_status failed = product(s, s.v.x, s.v.q, lent)) return failed;
        mock::launch(exec->stream,
                     [v = s.v, device, b = static_cast<const double *>(args.b)] { start(*device, v, b); });
      }
      for (int i = 0; i < block; ++i) mock::graph_launch(exec->stream, s.graph);
      next = consult(args, s.v, device, &s.on_host, told, *exec);
    }
    return SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  static const char *const alternatives[] = {SXT_KIND_SPMV_DOTS, SXT_KIND_SPMV "+" SXT_KIND_MULTIDOT, nullptr};
  static const sxt_slot slots[] = {{"A", alternatives, SXT_KERNEL_CAPTURABLE, 1, 1, 0}};
  sxt_kernel k = new_kernel(SXT_KIND_PCG, "pcg.graph.deferred", "deferred", "captured blocks of 8 iterations", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = type_bit(SXT_F64);
  k.slots = slots;
  k.n_slots = 1;
  k.applicable = check;
  k.candidates = candidates;
  k.slot_query = slot_query;
  k.prepare = prepare;
  k.open = open;
  k.close = destroy<Session>;
  k.release = destroy<State>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("hard-pcg-graph", out);
}
