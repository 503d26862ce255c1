// SPDX-License-Identifier: BSD-3-Clause
// pcg.persistent.deferred: the whole loop as one launch. It has no slots: it reads the diagonals that another plugin
// built, keeping its own copy of the values, as a kernel would in registers.
#include <cstdint>
#include <memory>

#include "pcg_engine.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;
using namespace mock::pcg;

namespace {

struct State {
  sxt_dia a{};  // this state owns the values
  const sxt_dia *source = nullptr;
  Memory values;
};

struct Session {
  Memory vectors, progress;
  Vectors v{};
  Progress on_host;
};

sxt_status check(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return applicable(as<sxt_pcg_query>(query), reason);
}

// One block does it all: nothing to launch, but slow for many rows.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &asked = as<sxt_pcg_query>(query);
  return mock::one_price(out, capacity, count,
                         expected_iterations(asked) * (5e-8 + 8e-9 * static_cast<double>(asked.m.rows)));
}

sxt_status refresh(void *opaque, const sxt_problem *, const sxt_exec *exec) {
  mock::add("persistent refreshes");
  auto &state = *static_cast<State *>(opaque);
  return exec->host->copy(exec->host, exec, state.values.data(), state.source->values,
                          state.a.n_diagonals * state.a.ld * sizeof(double));
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    auto state = std::make_unique<State>();
    state->source = &as<sxt_dia>(problem->a);
    state->a = *state->source;
    state->values = Memory(exec, SXT_SPACE_DEVICE, state->a.n_diagonals * state->a.ld * sizeof(double));
    state->a.values = state->values.data();
    const sxt_status copied = refresh(state.get(), problem, exec);
    return copied == SXT_OK ? give(state.release(), out) : copied;
  });
}

sxt_status open(const void *state, const sxt_filled *, const sxt_exec *exec, void **out) {
  return guard(exec, [&] {
    const std::int64_t n = static_cast<const State *>(state)->a.s.rows;
    auto session = std::make_unique<Session>();
    session->vectors = Memory(exec, SXT_SPACE_DEVICE, 4 * n * sizeof(double));
    session->progress = Memory(exec, SXT_SPACE_DEVICE, sizeof(Progress));
    auto *first = session->vectors.as<double>();
    session->v = {n, first, first + n, first + 2 * n, first + 3 * n};
    return give(session.release(), out);
  });
}

// On the device.
void loop(const sxt_dia &a, const Vectors &v, Progress &w, const double *b) {
  mock::multiply(a, 1, v.x, 0, v.q);
  start(w, v, b);
  while (!w.done) {
    mock::multiply(a, 1, v.p, 0, v.q);
    w.pq = mock::dot(v.n, v.p, v.q);
    advance(w, v);
  }
}

sxt_status run(const void *state, void *opaque, const sxt_head *head, const sxt_exec *exec) {
  return guard(exec, [&]() -> sxt_status {
    auto &args = const_cast<sxt_pcg_args &>(as<sxt_pcg_args>(head));
    auto &session = *static_cast<Session *>(opaque);
    if (args.max_iterations > longest)
      return error(exec, SXT_E_ARGUMENT, "more than %lld iterations", (long long)longest);
    auto *device = session.progress.as<Progress>();
    std::int64_t told = 0;
    for (Next next = Next::restart; next != Next::stop;) {
      begin(args, session.v, device, told ? told - 1 : 0, *exec);
      mock::launch(exec->stream, [a = static_cast<const State *>(state)->a, v = session.v, device,
                                  b = static_cast<const double *>(args.b)] { loop(a, v, *device, b); });
      next = consult(args, session.v, device, &session.on_host, told, *exec);
    }
    return SXT_OK;
  });
}

const sxt_kernel kernel = [] {
  static const char *const storages[] = {SXT_KIND_STORAGE_DIA, nullptr};
  sxt_kernel k = new_kernel(SXT_KIND_PCG, "pcg.persistent.deferred", "deferred", "the whole loop as one launch", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = type_bit(SXT_F64);
  k.storages = storages;
  k.applicable = check;
  k.candidates = candidates;
  k.prepare = prepare;
  k.refresh = refresh;
  k.open = open;
  k.close = destroy<Session>;
  k.release = destroy<State>;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("hard-pcg-persistent", out);
}
