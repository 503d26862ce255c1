// SPDX-License-Identifier: BSD-3-Clause
// rendezvous.reference.cpu: the steps of a rendezvous one after the other, on host memory that threads share.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "exchange_reference.hpp"
#include "sextant/sdk/rendezvous.hpp"

namespace sextant::exchange_reference {
namespace {

using namespace plugin;
using Clock = std::chrono::steady_clock;

template <class F>
bool wait_until(double patience, F &&done) {
  const auto start = Clock::now();
  while (!done())
    if (std::chrono::duration<double>(Clock::now() - start).count() > patience) return false;
  return true;
}

std::uint64_t load(const std::uint64_t *from) {
  return std::atomic_ref<std::uint64_t>(*const_cast<std::uint64_t *>(from)).load(std::memory_order_acquire);
}
void store(std::uint64_t *to, std::uint64_t value) {
  std::atomic_ref<std::uint64_t>(*to).store(value, std::memory_order_release);
}

template <class T>
void give_values(const sxt_rendezvous_args &args) {
  const T *x = static_cast<const T *>(args.x);
  for (std::int32_t l = 0; l < args.count; ++l) {
    const sxt_exchange_link &link = args.links[l];
    for (std::int64_t i = 0; i < link.count; ++i) static_cast<T *>(link.to)[i] = x[args.index[link.begin + i]];
    store(args.flags[l], args.control->epoch + 1);
  }
}

void await_flags(const sxt_rendezvous_args &args) {
  sxt_rendezvous_control &c = *args.control;
  for (std::int32_t l = 0; l < args.count && c.ended != SXT_RENDEZVOUS_ALONE; ++l)
    if (!wait_until(args.patience, [&] { return load(args.flags[l]) >= c.epoch + 1; })) c.ended = SXT_RENDEZVOUS_ALONE;
}

// False where another member's numbers did not come in time.
bool add_up(const sxt_rendezvous_args &args, const double *own, double (&sums)[SXT_RENDEZVOUS_SUMS]) {
  const std::uint64_t epoch = args.control->epoch + 1;
  for (std::int32_t to = 0; to < args.members; ++to)
    for (int sum = 0; sum < SXT_RENDEZVOUS_SUMS; ++sum)
      for (int half = 0; half < 2; ++half) {
        std::uint64_t bits;
        std::memcpy(&bits, &own[sum], sizeof bits);
        store(args.packets[to] + rendezvous::place(epoch, args.members, args.own, sum, half),
              rendezvous::packet(bits, half, epoch));
      }
  for (std::int32_t from = 0; from < args.members; ++from)
    for (int sum = 0; sum < SXT_RENDEZVOUS_SUMS; ++sum) {
      std::uint64_t bits = 0;
      for (int half = 0; half < 2; ++half) {
        const std::uint64_t *box = args.packets[args.own] + rendezvous::place(epoch, args.members, from, sum, half);
        if (!wait_until(args.patience, [&] { return rendezvous::is_of(load(box), epoch); })) return false;
        bits |= (load(box) & 0xffffffffu) << (32 * half);
      }
      double value;
      std::memcpy(&value, &bits, sizeof value);
      sums[sum] += value;
    }
  return true;
}

template <class T>
void step(const sxt_rendezvous_args &args) {
  sxt_rendezvous_control &c = *args.control;
  rendezvous::Coefficients next;
  const std::int64_t k = c.k;
  if (c.ended == SXT_RENDEZVOUS_RUNNING) {
    double own[SXT_RENDEZVOUS_SUMS] = {}, sums[SXT_RENDEZVOUS_SUMS] = {};
    for (int sum = 0; sum < (args.preconditioned ? 3 : 2); ++sum)
      own[sum] = static_cast<double>(std::real(static_cast<const T *>(args.dots)[sum]));
    const bool came = add_up(args, own, sums);
    if (args.squares) args.squares[k % args.room] = sums[1];
    next = rendezvous::step(c, sums, came, args.preconditioned != 0, sizeof(real_of<T>) == 4);
  }
  *args.report = {k, c.ended, 0, c.waited};
  ++c.epoch;
  *static_cast<T *>(args.alpha) = T(static_cast<real_of<T>>(next.alpha));
  *static_cast<T *>(args.beta) = T(static_cast<real_of<T>>(next.beta));
}

sxt_status run(const void *type_of, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &args = as<sxt_rendezvous_args>(head);
  return with_value_type(*static_cast<const sxt_value_type *>(type_of), [&](auto tag) -> sxt_status {
    using T = typename decltype(tag)::type;
    switch (args.step) {
      case SXT_RENDEZVOUS_BEGIN: return rendezvous::begin(*args.control, args), SXT_OK;
      case SXT_RENDEZVOUS_GIVE: return give_values<T>(args), SXT_OK;
      case SXT_RENDEZVOUS_AWAIT: return await_flags(args), SXT_OK;
      case SXT_RENDEZVOUS_STEP: return step<T>(args), SXT_OK;
      default: return error(exec, SXT_E_NOT_SUPPORTED, "step %d of a rendezvous is none", args.step);
    }
  });
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **state) {
  return guard(exec, [&] { return give(new sxt_value_type(problem->query->value_type), state); });
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_rendezvous_query>(query);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.launch[0] = 1;
  candidate.units = 1;
  candidate.run_s = 3 * machine->launch_s + 1e-6 * q.members + 4e-9 * static_cast<double>(q.n);
  candidate.state_bytes = sizeof(sxt_value_type);
  return SXT_OK;
}

}  // namespace

const sxt_kernel rendezvous_kernel = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_RENDEZVOUS, "rendezvous.reference.cpu", "cpu", "flags and packets in host memory", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_REFERENCE;
  k.prepare = prepare;
  k.release = destroy<sxt_value_type>;
  k.candidates = candidates;
  return k;
}();

}  // namespace sextant::exchange_reference
