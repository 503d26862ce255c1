// SPDX-License-Identifier: BSD-3-Clause
// What one member of a world gives to others, three ways:
//   exchange.peer.cuda    one kernel that stores each value where it is wanted, over NVLink or PCIe
//   exchange.copy.cuda    packed, then a copy to each receiver, by the copy engine; the driver finds the way
//   exchange.staged.cuda  the same to pinned memory of the host, from which the receivers copy
// An index and a value are read for each value that goes, and one is written: 8 + 2 v bytes on the device that gives, v
// of them across the link. Bound by the link's latency for some thousand values, by its rate beyond.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "access.hpp"
#include "plugin.hpp"
#include "sextant/plugin/kinds/exchange.h"
#include "sextant/sdk/cuda/exec.hpp"

namespace sextant::exchange_cuda {
namespace {

using namespace sextant::plugin;

constexpr int threads = 256;
constexpr int most_links = 8;  // of one launch, handed over by value so that a captured launch holds them

struct Links {
  int count;
  std::int64_t first, values;      // of the index, by all of these links
  std::int64_t begin[most_links];  // ascending
  void *to[most_links];
};

// V: bits of a value, moved as they are.
template <class V>
__global__ void __launch_bounds__(threads) store_values(const V *x, const std::int64_t *index, Links links) {
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < links.values;
       i += static_cast<std::int64_t>(gridDim.x) * threads) {
    const std::int64_t at = links.first + i;
    std::int64_t begin = links.begin[0];
    void *to = links.to[0];
#pragma unroll
    for (int l = 1; l < most_links; ++l)
      if (l < links.count && at >= links.begin[l]) begin = links.begin[l], to = links.to[l];
    static_cast<V *>(to)[at - begin] = x[index[at]];
  }
}

// Small grids: what crosses a link is a surface, and the product beside it wants the multiprocessors.
unsigned blocks_of(std::int64_t values) { return cuda::blocks_for(values, threads, 256); }

template <class V>
sxt_status store(const sxt_exchange_args &args, const Links &links, const sxt_exec *exec) {
  store_values<V><<<blocks_of(links.values), threads, 0, cuda::stream_of(*exec)>>>(static_cast<const V *>(args.x),
                                                                                   args.index, links);
  return cuda::launched(exec, "an exchange of values");
}

sxt_status store_bytes(std::uint64_t bytes, const sxt_exchange_args &args, const Links &links, const sxt_exec *exec) {
  switch (bytes) {
    case 4: return store<std::uint32_t>(args, links, exec);
    case 8: return store<unsigned long long>(args, links, exec);
    default: return store<ulonglong2>(args, links, exec);
  }
}

sxt_status load_code(const sxt_exec *exec) {
  if (const sxt_status failed = cuda::load(exec, store_values<std::uint32_t>)) return failed;
  if (const sxt_status failed = cuda::load(exec, store_values<unsigned long long>)) return failed;
  return cuda::load(exec, store_values<ulonglong2>);
}

// ---- the three ways

struct State {
  std::uint64_t bytes;  // of a value
  int own = 0;          // the device that gives
  bool staged = false;
  std::vector<int> to;  // devices of the links; none: the own one
};

sxt_status devices_of(const sxt_exec *exec, const sxt_head *data, State &state) {
  if (const sxt_status failed = cuda::check(exec, cudaGetDevice(&state.own), "ask for the current device"))
    return failed;
  if (!data) return SXT_OK;
  const auto &plan = as<sxt_exchange_plan>(data);
  for (std::int64_t l = 0; l < plan.n_links; ++l) {
    cudaPointerAttributes found{};
    if (const sxt_status failed =
            cuda::check(exec, cudaPointerGetAttributes(&found, plan.to[l]), "ask where a receiver's memory lies"))
      return failed;
    state.to.push_back(found.type == cudaMemoryTypeDevice ? found.device : state.own);
  }
  return SXT_OK;
}

sxt_status prepare_with(bool staged, const sxt_problem *problem, const sxt_exec *exec, void **made) {
  return guard(exec, [&] {
    if (const sxt_status failed = load_code(exec)) return failed;
    auto state = std::make_unique<State>();
    state->bytes = static_cast<std::uint64_t>(value_bytes(problem->query->value_type));
    state->staged = staged;
    if (const sxt_status failed = devices_of(exec, problem->data, *state)) return failed;
    return give(state.release(), made);
  });
}

sxt_status prepare_staged(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                          void **state) {
  return prepare_with(true, problem, exec, state);
}

// Copies between pools that stay closed to each other pass through the host.
sxt_status prepare_copy(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                        void **state) {
  static_cast<void>(open_all_to_current(exec, problem->data));
  return prepare_with(false, problem, exec, state);
}

sxt_status prepare_peer(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                        void **state) {
  if (const sxt_status refused = open_all_to_current(exec, problem->data)) return refused;
  return prepare_with(false, problem, exec, state);
}

sxt_status run_peer(const void *state, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_exchange_args>(head);
  for (std::int32_t done = 0; done < args.n_links; done += most_links) {
    Links links{};
    links.count = std::min(most_links, args.n_links - done);
    for (int l = 0; l < links.count; ++l) {
      links.begin[l] = args.links[done + l].begin;
      links.to[l] = args.links[done + l].to;
      links.values += args.links[done + l].count;
    }
    links.first = links.begin[0];
    if (const sxt_status failed = store_bytes(static_cast<const State *>(state)->bytes, args, links, exec))
      return failed;
  }
  return SXT_OK;
}

// Memory of one pool is reached from another device by a copy that names both.
sxt_status copy_link(const State &state, std::int32_t l, const sxt_exchange_args &args, const sxt_exec *exec) {
  const sxt_exchange_link &link = args.links[l];
  const char *from = static_cast<const char *>(args.packed) + static_cast<std::uint64_t>(link.begin) * state.bytes;
  const std::uint64_t bytes = static_cast<std::uint64_t>(link.count) * state.bytes;
  const auto at = static_cast<std::size_t>(l);
  const int to = at < state.to.size() ? state.to[at] : state.own;
  const cudaStream_t stream = cuda::stream_of(*exec);
  const cudaError_t status = state.staged || to == state.own
                                 ? cudaMemcpyAsync(link.to, from, bytes, cudaMemcpyDefault, stream)
                                 : cudaMemcpyPeerAsync(link.to, to, from, state.own, bytes, stream);
  return cuda::check(exec, status, "copy values to another member");
}

sxt_status run_copies(const void *made, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_exchange_args>(head);
  const State &state = *static_cast<const State *>(made);
  if (args.n <= 0) return SXT_OK;
  const Links packed{1, 0, args.n, {0}, {args.packed}};
  if (const sxt_status failed = store_bytes(state.bytes, args, packed, exec)) return failed;
  for (std::int32_t l = 0; l < args.n_links; ++l)
    if (const sxt_status failed = copy_link(state, l, args, exec)) return failed;
  return SXT_OK;
}

// ---- models

// Beside core's: what a link adds once, and each byte that crosses it. The first two between devices, the last two to
// the host and back.
constexpr const char *term_names[] = {"launches",          "stream_bytes", "sectors",           "latency.link",
                                      "memory.link_bytes", "latency.host", "memory.host_bytes", nullptr};
constexpr double nan_value = __builtin_nan("");
// Until calibrated: NVLink of the fourth generation, a copy engine's start, PCIe of the fifth.
constexpr double term_defaults[] = {nan_value, nan_value, nan_value, 1.5e-6, 1 / 3.0e11, 8e-6, 1 / 2.5e10};
enum { launches, stream_bytes, sectors, link_latency, link_bytes, host_latency, host_bytes, terms };

// The part that all have: values gathered and written on the device that gives.
sxt_candidate &packing(CandidateList &list, const sxt_exchange_query &q, const sxt_machine &machine) {
  sxt_candidate &candidate = list.add();
  const auto n = static_cast<double>(q.n), v = static_cast<double>(value_bytes(q.q.value_type));
  candidate.launch[0] = blocks_of(q.n);
  candidate.launch[1] = threads;
  candidate.n_terms = terms;
  candidate.terms[launches] = 1;
  candidate.terms[stream_bytes] = n * (8 + v);
  candidate.terms[sectors] = n;
  candidate.units = std::min<double>(static_cast<double>(candidate.launch[0]), std::max(1, machine.units));
  candidate.state_bytes = sizeof(State);
  return candidate;
}

double bytes_apart(const sxt_exchange_query &q) {
  return static_cast<double>(q.n_apart) * static_cast<double>(value_bytes(q.q.value_type));
}

sxt_status candidates_peer(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                           sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_exchange_query>(query);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = packing(list, q, *machine);
  candidate.terms[launches] = cuda::divide_up(std::max(1, q.links), most_links);
  candidate.terms[link_latency] = q.links_apart > 0 ? 1 : 0;  // stores to all receivers are under way at once
  candidate.terms[link_bytes] = bytes_apart(q);
  return SXT_OK;
}

sxt_status candidates_copy(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                           sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_exchange_query>(query);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = packing(list, q, *machine);
  candidate.terms[launches] += q.links;  // a copy within the device is as dear as a launch
  candidate.terms[link_latency] = 2 * q.links_apart;
  candidate.terms[link_bytes] = bytes_apart(q);
  return SXT_OK;
}

// Within a process the receivers' copies come on top.
sxt_status candidates_staged(const sxt_query *query, const sxt_features *, const sxt_machine *machine,
                             const sxt_filled *, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_exchange_query>(query);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = packing(list, q, *machine);
  const int ways = q.reach == SXT_REACH_HOST ? 1 : 2;
  candidate.terms[host_latency] = ways * q.links;
  candidate.terms[host_bytes] = ways * static_cast<double>(q.n) * static_cast<double>(value_bytes(q.q.value_type));
  return SXT_OK;
}

sxt_status within_process(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  if (as<sxt_exchange_query>(query).reach == SXT_REACH_PROCESS) return SXT_OK;
  return refuse(reason, "the values go to host memory");
}

// ---- tables

const sxt_exchange_ops staging = {sizeof(sxt_exchange_ops), 1, 0};

sxt_kernel table(const char *name, const char *description, decltype(&run_peer) run, decltype(&prepare_peer) prepares,
                 decltype(&candidates_peer) candidates) {
  sxt_kernel k = new_kernel(SXT_KIND_EXCHANGE, name, "cuda", description, run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.term_names = term_names;
  k.term_defaults = term_defaults;
  k.prepare = prepares;
  k.release = destroy<State>;
  k.candidates = candidates;
  return k;
}

const sxt_kernel peer = [] {
  sxt_kernel k = table("exchange.peer.cuda", "one kernel stores each value in the receivers' memory", run_peer,
                       prepare_peer, candidates_peer);
  k.applicable = within_process;
  return k;
}();
const sxt_kernel copies = [] {
  sxt_kernel k =
      table("exchange.copy.cuda", "packed, then a copy to each receiver", run_copies, prepare_copy, candidates_copy);
  k.applicable = within_process;
  return k;
}();
const sxt_kernel staged = [] {
  sxt_kernel k =
      table("exchange.staged.cuda", "packed, then copied to the host", run_copies, prepare_staged, candidates_staged);
  k.ops = &staging;
  return k;
}();

}  // namespace
}  // namespace sextant::exchange_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::exchange_cuda;
  static const sxt_kernel *const kernels[] = {&peer, &copies, &staged, &rendezvous_kernel};
  static const sxt_plugin plugin = sextant::plugin::describe("exchange-cuda", kernels);
  return *out = &plugin, SXT_OK;
}
