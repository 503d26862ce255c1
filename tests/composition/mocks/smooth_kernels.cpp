// SPDX-License-Identifier: BSD-3-Clause
// Two kernels of the third party's kind: one with a cheap set-up, one with an expensive set-up, fast runs and sessions.
// Knob "smooth.barrier": this many callers must be inside run at the same time before any of them continues; knob
// "smooth.answer": the status run returns.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "../mock_driver.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/kernel.hpp"
#include "smooth.hpp"

using namespace sextant::plugin;

namespace {

void smooth(const SmoothArgs &args, double *work) {
  const double *from = args.x;
  for (std::int64_t pass = 0; pass < args.passes; ++pass) {
    // Alternates so that the last pass writes y.
    double *to = (args.passes - pass) % 2 ? args.y : work;
    for (std::int64_t i = 0; i < args.n; ++i)
      to[i] = 0.25 * (i > 0 ? from[i - 1] : 0) + 0.5 * from[i] + 0.25 * (i + 1 < args.n ? from[i + 1] : 0);
    from = to;
  }
}

double bytes_moved(const sxt_query *query) {
  return 16.0 * static_cast<double>(as<SmoothQuery>(query).n * as<SmoothQuery>(query).passes);
}

// ---- smooth.plain: works in scratch, no set-up ----

sxt_status plain_candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                            sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.run_s = 1e-6 + 1e-9 * bytes_moved(query);
  candidate.scratch_bytes = static_cast<std::uint64_t>(as<SmoothQuery>(query).n) * sizeof(double);
  return SXT_OK;
}

sxt_status plain_run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  return smooth(as<SmoothArgs>(head), static_cast<double *>(exec->scratch)), SXT_OK;
}

// ---- smooth.pooled: a session holds its work array ----

struct Session {
  std::vector<double> work;
  std::atomic<bool> busy{false};
};

// Waits until `wanted` callers are here; false when they do not arrive within five seconds.
bool meet(int wanted) {
  static std::mutex lock;
  static std::condition_variable came;
  static int present = 0, round = 0;
  std::unique_lock held(lock);
  const int mine = round;
  if (++present == wanted) {
    present = 0, ++round;
    came.notify_all();
    return true;
  }
  return came.wait_for(held, std::chrono::seconds(5), [&] { return round != mine; });
}

sxt_status pooled_candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                             sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.run_s = 1e-7 + 1e-10 * bytes_moved(query);
  candidate.setup_s = 1e-3;
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    mock::add("pooled prepares");
    return give(new std::int64_t(as<SmoothQuery>(problem->query).n), out);
  });
}

sxt_status open(const void *state, const sxt_filled *, const sxt_exec *exec, void **out) {
  return guard(exec, [&] {
    auto *session = new Session;
    session->work.resize(*static_cast<const std::int64_t *>(state));
    mock::add("pooled opens");
    return give(session, out);
  });
}

sxt_status pooled_run(const void *, void *opaque, const sxt_head *head, const sxt_exec *exec) {
  return guard(exec, [&] {
    auto &session = *static_cast<Session *>(opaque);
    if (session.busy.exchange(true)) return error(exec, SXT_E_STATE, "a session is used by two callers at once");
    const int wanted = static_cast<int>(mock::knob("smooth.barrier", 1));
    const bool met = wanted <= 1 || meet(wanted);
    smooth(as<SmoothArgs>(head), session.work.data());
    session.busy = false;
    const auto answer = static_cast<sxt_status>(mock::knob("smooth.answer", SXT_OK));
    return met ? answer : error(exec, SXT_E_STATE, "%d callers were never here at the same time", wanted);
  });
}

void close(void *session) { mock::add("pooled closes"), delete static_cast<Session *>(session); }
void release(void *state) { mock::add("pooled releases"), delete static_cast<std::int64_t *>(state); }

const sxt_kernel plain = [] {
  sxt_kernel k = new_kernel(KIND_SMOOTH, "smooth.plain.cpu", "cpu", "nothing to set up", plain_run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.value_types = type_bit(SXT_F64);
  k.candidates = plain_candidates;
  return k;
}();

const sxt_kernel pooled = [] {
  sxt_kernel k = new_kernel(KIND_SMOOTH, "smooth.pooled.cpu", "cpu", "expensive set-up, fast runs", pooled_run);
  k.value_types = type_bit(SXT_F64);
  k.candidates = pooled_candidates;
  k.prepare = prepare;
  k.open = open;
  k.close = close;
  k.release = release;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&plain, &pooled>("hard-smooth-kernels", out);
}
