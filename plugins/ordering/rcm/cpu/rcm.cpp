// SPDX-License-Identifier: BSD-3-Clause
// ordering.rcm.cpu, and the same for contexts of a GPU, whose matrices have their pattern on the host as well.
#include "plugins/ordering/shared/rcm.hpp"
#include "sextant/sdk/describe.hpp"

#include <limits>

namespace sextant::ordering_rcm {

namespace {

using namespace plugin;
using namespace plugin::ordering;
using plugin::rcm::Rcm, plugin::rcm::Work;

constexpr bool narrow(std::int64_t n) { return n < std::numeric_limits<std::int32_t>::max(); }

std::uint64_t work_bytes(std::int64_t n) {
  return narrow(n) ? Work<std::int32_t>::bytes(n) : Work<std::int64_t>::bytes(n);
}

template <class Q, class I, class O>
sxt_status order(const Pattern<I, O> &pattern, void *memory, sxt_ordering_args &args, I *perm, const sxt_exec *exec) {
  if (Rcm<I, O, Q>(pattern, Work<Q>(memory, pattern.n)).run(args, perm)) return SXT_OK;
  error(exec, SXT_NOT_APPLICABLE, "a level holds more than %lld of %lld rows", (long long)args.most_width,
        (long long)pattern.n);
  return SXT_NOT_APPLICABLE;
}

sxt_status run_in(void *memory, std::uint64_t bytes, const sxt_head *head, const sxt_exec *exec) {
  sxt_ordering_args &args = writable(head);
  return with_pattern(exec, args, [&](const auto &pattern, auto *perm) -> sxt_status {
    if (bytes < work_bytes(pattern.n))
      return error(exec, SXT_E_STATE, "%llu bytes to work in for %lld rows", (unsigned long long)bytes,
                   (long long)pattern.n);
    if constexpr (sizeof *perm == sizeof(std::int64_t))
      if (!narrow(pattern.n)) return order<std::int64_t>(pattern, memory, args, perm, exec);
    return order<std::int32_t>(pattern, memory, args, perm, exec);
  });
}

sxt_status run(const void *, void *, const sxt_head *head, const sxt_exec *exec) {
  return run_in(exec->scratch, exec->scratch_bytes, head, exec);
}

// In a GPU's context scratch lies on the device: a session allocates memory of the host.
struct Session {
  std::uint64_t bytes;
  Memory memory;
};

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] { return give(new std::int64_t(as<sxt_ordering_query>(problem->query).m.rows), out); });
}

sxt_status open(const void *state, const sxt_filled *, const sxt_exec *exec, void **out) {
  return guard(exec, [&] {
    const std::uint64_t bytes = work_bytes(*static_cast<const std::int64_t *>(state));
    return give(new Session{bytes, Memory(exec, SXT_SPACE_HOST, bytes)}, out);
  });
}

sxt_status run_on_host(const void *, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &session = *static_cast<const Session *>(opened);
  return run_in(session.memory.data(), session.bytes, head, exec);
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return offers(as<sxt_ordering_query>(query), "rcm", reason);
}

// A search visits every row and every entry once: the columns of a row, its pointers and the degree that sorts it are
// scattered in memory, the mark of an entry's row is in the core's private cache where n bytes fit there.
constexpr double searches = 2.5;                   // of a component, most often two or three
constexpr double accesses_a_row = 3, overlap = 3;  // of prefetched accesses, this many at a time
constexpr double entry_s = 1.5e-9;                 // the instructions of an entry

double seconds(const sxt_matrix_query &q, double miss_s, double hit_s, double last_cache, double own_cache) {
  const double n = static_cast<double>(q.rows), nnz = static_cast<double>(q.nnz);
  const double index = narrow(q.cols) ? 4 : 8, bytes = nnz * index + n * (2 * index + 5);
  const double row_s = accesses_a_row * (bytes > last_cache ? miss_s : hit_s) / overlap;
  const double mark_s = n < own_cache / 2 ? 0 : hit_s / overlap;
  return searches * (n * row_s + nnz * (entry_s + mark_s));
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_ordering_query>(query);
  const bool on_cpu = machine->gather_rate_unit > 0 && machine->warp == 0;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.launch[0] = 1;
  candidate.units = 1;
  // The numbers of a GPU do not describe its host: those of a server are used.
  candidate.run_s = on_cpu
                        ? seconds(q.m, 1 / machine->gather_rate_unit, 1.5e-8, static_cast<double>(machine->cache_bytes),
                                  static_cast<double>(machine->unit_cache_bytes))
                        : seconds(q.m, 9e-8, 1.5e-8, 3.2e7, 2e6);
  candidate.scratch_bytes = on_cpu ? work_bytes(q.m.rows) : 0;
  return SXT_OK;
}

sxt_kernel table(const char *name, const char *device, const char *description, decltype(&run) runs) {
  sxt_kernel k = new_kernel(SXT_KIND_ORDERING, name, device, description, runs);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.applicable = applicable;
  k.candidates = candidates;
  return k;
}

const sxt_kernel on_cpu =
    table("ordering.rcm.cpu", "cpu", "reverse Cuthill-McKee from a row at the rim, one thread", run);
const sxt_kernel for_gpu = [] {
  sxt_kernel k =
      table("ordering.rcm-on-host.cuda", "cuda", "reverse Cuthill-McKee on the host of a GPU, one thread", run_on_host);
  k.prepare = prepare;
  k.open = open;
  k.close = destroy<Session>;
  k.release = destroy<std::int64_t>;
  return k;
}();

}  // namespace
}  // namespace sextant::ordering_rcm

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::ordering_rcm::on_cpu, &sextant::ordering_rcm::for_gpu>("ordering-rcm", out);
}
