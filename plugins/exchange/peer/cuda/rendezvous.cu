// SPDX-License-Identifier: BSD-3-Clause
// rendezvous.packets.cuda: members on different devices meet by packets and flags in each other's memory. GIVE is one
// pass over what is given, AWAIT and STEP are one block each: bound by the latency of a store to another device, once
// an iteration for the values and once for the sums.
#include <algorithm>
#include <cstdint>

#include "access.hpp"
#include "plugin.hpp"
#include "sextant/plugin/kinds/rendezvous.h"
#include "sextant/sdk/cuda/exec.hpp"
#include "sextant/sdk/rendezvous.hpp"

namespace sextant::exchange_cuda {
namespace {

using namespace sextant::plugin;

constexpr int threads = 256;
constexpr int most = SXT_RENDEZVOUS_MAX;

// ---- memory that other devices read and write

__device__ void send_word(std::uint64_t *to, std::uint64_t value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
__device__ std::uint64_t peek_word(const std::uint64_t *from) {
  std::uint64_t value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
__device__ void raise_flag(std::uint64_t *flag, std::uint64_t epoch) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(flag), "l"(epoch) : "memory");
}
__device__ std::uint64_t read_flag(const std::uint64_t *flag) {
  std::uint64_t value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(flag) : "memory");
  return value;
}
__device__ std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

// True when done() is, false when so many nanoseconds have passed. waited: how long that took, 0 where it was done.
template <class F>
__device__ bool wait_until(std::uint64_t patience, std::uint64_t &waited, const F &done) {
  waited = 0;
  if (done()) return true;
  const std::uint64_t start = nanoseconds();
  do {
    waited = nanoseconds() - start;
    if (done()) return true;
  } while (waited <= patience);
  return false;
}

// ---- steps

__global__ void begin_kernel(sxt_rendezvous_args args) { rendezvous::begin(*args.control, args); }

struct Given {
  int count;
  std::int64_t n, begin[most];
  void *to[most];
  std::uint64_t *flags[most];
  sxt_rendezvous_control *control;
};

template <class V>
__global__ void __launch_bounds__(threads) give_kernel(const V *x, const std::int64_t *index, Given given) {
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < given.n;
       i += static_cast<std::int64_t>(gridDim.x) * threads) {
    std::int64_t begin = given.begin[0];
    void *to = given.to[0];
#pragma unroll
    for (int l = 1; l < most; ++l)
      if (l < given.count && i >= given.begin[l]) begin = given.begin[l], to = given.to[l];
    static_cast<V *>(to)[i - begin] = x[index[i]];
  }
  __threadfence_system();  // the values are ordered before the flags that the last block raises
  __syncthreads();
  __shared__ bool last;
  if (threadIdx.x == 0) {
    last = atomicAdd(&given.control->ticket, 1u) == gridDim.x - 1;
    __threadfence_system();
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x == 0) given.control->ticket = 0;
  if (static_cast<int>(threadIdx.x) < given.count) raise_flag(given.flags[threadIdx.x], given.control->epoch + 1);
}

struct Awaited {
  int count;
  const std::uint64_t *flags[most];
  sxt_rendezvous_control *control;
  std::uint64_t patience;
};

__global__ void __launch_bounds__(32) await_kernel(Awaited awaited) {
  sxt_rendezvous_control &c = *awaited.control;
  if (c.ended == SXT_RENDEZVOUS_ALONE) return;
  const std::uint64_t epoch = c.epoch + 1;
  bool came = true;
  std::uint64_t waited = 0;
  if (static_cast<int>(threadIdx.x) < awaited.count) {
    const std::uint64_t *flag = awaited.flags[threadIdx.x];
    came = wait_until(awaited.patience, waited, [=] { return read_flag(flag) >= epoch; });
  }
  came = __all_sync(0xffffffffu, came);
  for (int d = 16; d > 0; d /= 2) waited = max(waited, __shfl_xor_sync(0xffffffffu, waited, d));
  if (threadIdx.x > 0) return;
  if (!came) c.ended = SXT_RENDEZVOUS_ALONE;
  c.waited += waited;
}

struct Stepped {
  int members, own;
  bool preconditioned, single, complex;
  const void *dots;
  std::uint64_t *packets[most];
  sxt_rendezvous_control *control;
  void *alpha, *beta;
  sxt_rendezvous_report *report;
  double *squares;
  std::int64_t room;
  std::uint64_t patience;
};

__device__ double own_sum(const Stepped &s, int sum) {
  if (sum == 2 && !s.preconditioned) return 0;
  const int at = sum * (s.complex ? 2 : 1);  // real parts: A and M are Hermitian
  return s.single ? static_cast<double>(static_cast<const float *>(s.dots)[at])
                  : static_cast<const double *>(s.dots)[at];
}

__device__ void put_number(const Stepped &s, void *to, double value) {
  if (s.single) {
    static_cast<float *>(to)[0] = static_cast<float>(value);
    if (s.complex) static_cast<float *>(to)[1] = 0;
  } else {
    static_cast<double *>(to)[0] = value;
    if (s.complex) static_cast<double *>(to)[1] = 0;
  }
}

__global__ void __launch_bounds__(threads) step_kernel(Stepped s) {
  __shared__ std::uint32_t halves[most * SXT_RENDEZVOUS_SUMS * 2];
  __shared__ int late;
  __shared__ unsigned long long longest;
  sxt_rendezvous_control &c = *s.control;
  const std::int32_t ended = c.ended;
  const std::uint64_t epoch = c.epoch + 1;
  if (threadIdx.x == 0) late = 0, longest = 0;
  __syncthreads();
  constexpr int words = SXT_RENDEZVOUS_SUMS * 2;
  if (ended == SXT_RENDEZVOUS_RUNNING) {
    for (int at = threadIdx.x; at < s.members * words; at += threads) {  // to every member, this one too
      const int to = at / words, sum = at % words / 2, half = at % 2;
      const auto bits = static_cast<std::uint64_t>(__double_as_longlong(own_sum(s, sum)));
      send_word(s.packets[to] + rendezvous::place(epoch, s.members, s.own, sum, half),
                rendezvous::packet(bits, half, epoch));
    }
    for (int at = threadIdx.x; at < s.members * words; at += threads) {
      const int from = at / words, sum = at % words / 2, half = at % 2;
      const std::uint64_t *box = s.packets[s.own] + rendezvous::place(epoch, s.members, from, sum, half);
      std::uint64_t found = 0, waited = 0;
      if (from == s.own)  // known without waiting
        found = rendezvous::packet(static_cast<std::uint64_t>(__double_as_longlong(own_sum(s, sum))), half, epoch);
      else if (!wait_until(s.patience, waited, [&] { return rendezvous::is_of(found = peek_word(box), epoch); }))
        atomicExch(&late, 1);
      if (waited > 0) atomicMax(&longest, static_cast<unsigned long long>(waited));
      halves[at] = static_cast<std::uint32_t>(found);
    }
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  rendezvous::Coefficients next;
  if (ended == SXT_RENDEZVOUS_RUNNING) {
    double sums[SXT_RENDEZVOUS_SUMS] = {0, 0, 0};
    for (int from = 0; from < s.members; ++from)
      for (int sum = 0; sum < SXT_RENDEZVOUS_SUMS; ++sum) {
        const int at = (from * SXT_RENDEZVOUS_SUMS + sum) * 2;
        sums[sum] +=
            __longlong_as_double(static_cast<long long>(static_cast<std::uint64_t>(halves[at + 1]) << 32 | halves[at]));
      }
    const std::int64_t k = c.k;
    if (s.squares) s.squares[k % s.room] = sums[1];
    next = rendezvous::step(c, sums, late == 0, s.preconditioned, s.single);
    c.waited += longest;
    *s.report = {k, c.ended, 0, c.waited};
  } else {
    *s.report = {c.k, ended, 0, c.waited};
  }
  c.epoch = epoch;
  put_number(s, s.alpha, next.alpha);
  put_number(s, s.beta, next.beta);
}

// ---- host side

std::uint64_t nanoseconds_of(double patience) {
  return static_cast<std::uint64_t>(std::clamp(patience, 1e-3, 1e6) * 1e9);
}

sxt_status give(sxt_value_type type, const sxt_rendezvous_args &args, const sxt_exec *exec) {
  if (args.count == 0) return SXT_OK;
  Given given{};
  given.count = args.count;
  given.n = args.n;
  given.control = args.control;
  for (int l = 0; l < args.count; ++l)
    given.begin[l] = args.links[l].begin, given.to[l] = args.links[l].to, given.flags[l] = args.flags[l];
  const unsigned blocks = cuda::blocks_for(args.n, threads, 256);
  const cudaStream_t stream = cuda::stream_of(*exec);
  switch (value_bytes(type)) {
    case 4:
      give_kernel<<<blocks, threads, 0, stream>>>(static_cast<const std::uint32_t *>(args.x), args.index, given);
      break;
    case 8:
      give_kernel<<<blocks, threads, 0, stream>>>(static_cast<const unsigned long long *>(args.x), args.index, given);
      break;
    default:
      give_kernel<<<blocks, threads, 0, stream>>>(static_cast<const ulonglong2 *>(args.x), args.index, given);
      break;
  }
  return cuda::launched(exec, "values for other members");
}

sxt_status await(const sxt_rendezvous_args &args, const sxt_exec *exec) {
  if (args.count == 0) return SXT_OK;
  Awaited awaited{args.count, {}, args.control, nanoseconds_of(args.patience)};
  std::copy_n(args.flags, args.count, awaited.flags);
  await_kernel<<<1, 32, 0, cuda::stream_of(*exec)>>>(awaited);
  return cuda::launched(exec, "waiting for values of other members");
}

sxt_status step(sxt_value_type type, const sxt_rendezvous_args &args, const sxt_exec *exec) {
  Stepped s{};
  s.members = args.members;
  s.own = args.own;
  s.preconditioned = args.preconditioned != 0;
  s.single = type == SXT_F32 || type == SXT_C64;
  s.complex = type == SXT_C64 || type == SXT_C128;
  s.dots = args.dots;
  std::copy_n(args.packets, args.members, s.packets);
  s.control = args.control;
  s.alpha = args.alpha;
  s.beta = args.beta;
  s.report = args.report;
  s.squares = args.squares;
  s.room = args.room;
  s.patience = nanoseconds_of(args.patience);
  step_kernel<<<1, threads, 0, cuda::stream_of(*exec)>>>(s);
  return cuda::launched(exec, "the sums of all members");
}

sxt_status run(const void *type_of, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_rendezvous_args>(head);
  const sxt_value_type type = *static_cast<const sxt_value_type *>(type_of);
  if (args.members < 1 || args.members > most || args.own < 0 || args.own >= args.members || args.count > most)
    return error(exec, SXT_E_ARGUMENT, "member %d of %d, %d links: at most %d meet", args.own, args.members, args.count,
                 most);
  switch (args.step) {
    case SXT_RENDEZVOUS_BEGIN:
      begin_kernel<<<1, 1, 0, cuda::stream_of(*exec)>>>(args);
      return cuda::launched(exec, "the beginning of steps");
    case SXT_RENDEZVOUS_GIVE: return give(type, args, exec);
    case SXT_RENDEZVOUS_AWAIT: return await(args, exec);
    case SXT_RENDEZVOUS_STEP: return step(type, args, exec);
    default: return error(exec, SXT_E_NOT_SUPPORTED, "step %d of a rendezvous is none", args.step);
  }
}

sxt_status load_code(const sxt_exec *exec) {
  if (const sxt_status failed = cuda::load(exec, begin_kernel)) return failed;
  if (const sxt_status failed = cuda::load(exec, give_kernel<std::uint32_t>)) return failed;
  if (const sxt_status failed = cuda::load(exec, give_kernel<unsigned long long>)) return failed;
  if (const sxt_status failed = cuda::load(exec, give_kernel<ulonglong2>)) return failed;
  if (const sxt_status failed = cuda::load(exec, await_kernel)) return failed;
  return cuda::load(exec, step_kernel);
}

// data: the rooms of the other members.
sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] {
    if (const sxt_status refused = open_all_to_current(exec, problem->data)) return refused;
    if (const sxt_status failed = load_code(exec)) return failed;
    return plugin::give(new sxt_value_type(problem->query->value_type), state);
  });
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_rendezvous_query>(query);
  if (q.members <= most) return SXT_OK;
  return refuse(reason, "%d members, at most %d meet on their devices", q.members, most);
}

// A pass over what is given, and two exchanges between devices, of which one lies beside the product.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_rendezvous_query>(query);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.launch[0] = cuda::blocks_for(q.n, threads, 256);
  candidate.launch[1] = threads;
  candidate.run_s =
      3 * machine->launch_s + 2e-6 + static_cast<double>(q.n) * static_cast<double>(value_bytes(q.q.value_type)) / 3e11;
  candidate.state_bytes = sizeof(sxt_value_type);
  return SXT_OK;
}

}  // namespace

const sxt_kernel rendezvous_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_RENDEZVOUS, "rendezvous.packets.cuda", "cuda",
                            "flags and packets in the memory of each other's device", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.release = destroy<sxt_value_type>;
  return k;
}();

}  // namespace sextant::exchange_cuda
