// SPDX-License-Identifier: BSD-3-Clause
#include "core/operations/operations.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>

#include "core/base/operation_kinds.hpp"
#include "core/base/scalar.hpp"
#include "core/base/thread_cache.hpp"
#include "core/base/types.hpp"
#include "core/choose/make_choice.hpp"

namespace sextant {

namespace {

// A subject as one number.
std::uint64_t number_of(const TreeSubject &subject) noexcept {
  const auto kind = static_cast<std::uint64_t>(
      std::find(std::begin(operation_kinds), std::end(operation_kinds), subject.kind) - operation_kinds);
  return kind << 48 | static_cast<std::uint64_t>(subject.operation) << 16 |
         static_cast<std::uint64_t>(subject.type) << 8 | static_cast<std::uint64_t>(subject.own) << 7 |
         static_cast<std::uint64_t>(subject.index_type);
}

// Bytes of a reduction's result, from the kind's table: of the value type, its real type, or an index.
std::uint64_t result_bytes(std::int32_t operation, sxt_value_type type) {
  enum { V, R, I } result = V;
  switch (operation) {
#define SXT_X(suffix, value, name, formula, vectors, kind) \
  case value: result = kind; break;
    SXT_REDUCTION_TABLE(SXT_X)
#undef SXT_X
    default: break;
  }
  if (result == I) return sizeof(std::int64_t);
  const bool complex = type == SXT_C64 || type == SXT_C128;
  return value_bytes(type) / (result == R && complex ? 2 : 1);
}

// Runs a kernel and returns when its result, of so many bytes, is in the host memory at args.result.
template <class Args>
void run_for_host(Device &device, Runner &chosen, Args &args, std::uint64_t bytes) {
  if (device.on_host()) return static_cast<void>(chosen.run(&args.h));
  void *const result = args.result;
  // Pinned memory is in the device's reach: the kernel enqueues and returns, and no copy follows.
  const DeviceBuffer pinned(device, bytes, SXT_SPACE_PINNED);
  args.result = pinned.data();
  chosen.run(&args.h);
  device.wait(device.callers_stream());
  std::memcpy(result, pinned.data(), bytes);
}

}  // namespace

PlannedOperation::Octave::~Octave() {
  for (const auto &runner : runners) delete runner.load(std::memory_order_relaxed);
}

PlannedOperation::~PlannedOperation() {
  for (const auto &octave : octaves_) delete octave.load(std::memory_order_relaxed);
}

// Octave k holds 2^(k-1) < n <= 2^k, so that scratch is at most twice what a call needs.
Runner &PlannedOperation::at(std::int64_t n) {
  const auto k = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
  Octave *octave = octaves_[k].load(std::memory_order_acquire);
  if (!octave) octave = &plan(k);
  const std::size_t leaf = octave->tree.find(n);
  Runner *runner = octave->runners[leaf].load(std::memory_order_acquire);
  return runner ? *runner : build(*octave, leaf);
}

PlannedOperation::Octave &PlannedOperation::plan(std::size_t k) {
  const std::lock_guard lock(mutex_);
  if (Octave *made = octaves_[k].load(std::memory_order_relaxed)) return *made;
  const std::int64_t last = k < 63 ? std::int64_t{1} << k : std::numeric_limits<std::int64_t>::max();
  auto octave = std::make_unique<Octave>(DecisionTree::build(context_, subject_, k ? last / 2 + 1 : 1, last));
  note_choices();
  octaves_[k].store(octave.get(), std::memory_order_release);
  return *octave.release();
}

Runner &PlannedOperation::build(Octave &octave, std::size_t leaf) {
  const std::lock_guard lock(mutex_);
  if (Runner *made = octave.runners[leaf].load(std::memory_order_relaxed)) return *made;
  // At the end of the range the models say what the leaf says; force, plan and the self-test of third parties' kernels
  // count, too.
  LeftOut left_out;
  auto runner = make_choice(
      context_, left_out,
      [&](const LeftOut &kernels) {
        Selector selector(context_, nullptr, {.left_out = kernels, .own_only = subject_.own});
        return selector.select({subject_.at(octave.tree.leaves()[leaf].last), subject_.kind});
      },
      [&](ChoicePtr choice) { return std::make_unique<Runner>(context_, std::move(choice), nullptr); });
  note_choices();
  octave.runners[leaf].store(runner.get(), std::memory_order_release);
  return *runner.release();
}

void PlannedOperation::note_choices() noexcept {
  if (context_.choices() != choices_) mixed_.store(true, std::memory_order_release);
}

Operations &Operations::of(Context &context) {
  const auto make = [](Context &its) -> std::unique_ptr<Context::Kept> {
    auto made = std::make_unique<Operations>(its);
    made->own_ = std::make_unique<Operations>(its, true);
    return made;
  };
  return static_cast<Operations &>(context.kept(make));
}

Operations &Operations::own_of(Context &context) { return *of(context).own_; }

PlannedOperation &Operations::planned(const TreeSubject &subject) {
  // Read before anything is chosen: what is built from older choices is then not found under the newer number.
  const std::uint64_t choices = context_.choices();
  const CacheKey key{context_.id(), choices, number_of(subject)};
  if (PlannedOperation *const *known = ThreadCache<PlannedOperation *>::find(key); known && !(*known)->mixed())
    return **known;
  PlannedOperation *found = nullptr;
  {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<PlannedOperation> &plan = plans_[{choices, key.what}];
    if (!plan || plan->mixed()) {
      auto made = std::make_unique<PlannedOperation>(context_, subject, choices);
      if (plan) mixed_.push_back(std::move(plan));
      plan = std::move(made);
    }
    found = plan.get();
  }
  ThreadCache<PlannedOperation *>::keep(key, found);
  return *found;
}

void Operations::vector(const VectorCall &call) {
  if (call.n == 0) return;
  const AlignedScalar alpha(call.alpha, call.type), beta(call.beta, call.type);
  sxt_vector_args args{};
  args.h = {sizeof args, SXT_KIND_VECTOR};
  args.n = call.n;
  args.operation = call.operation;
  args.index_type = call.index_type;
  args.alpha.value = alpha.get();
  args.beta.value = beta.get();
  args.x = call.x;
  args.y = call.y;
  args.z = call.z;
  args.index = call.index;
  planned({SXT_KIND_VECTOR, call.operation, call.type, call.index_type, own_only_}).at(call.n).run(&args.h);
}

void Operations::reduce(std::int32_t operation, sxt_value_type type, std::int64_t n, const void *x, const void *y,
                        void *result) {
  sxt_reduction_args args{};
  args.h = {sizeof args, SXT_KIND_REDUCTION};
  args.n = n;
  args.operation = operation;
  args.x = x;
  args.y = y;
  args.result = result;
  args.result_on_device = !context_.device().on_host();
  Runner &chosen = planned({SXT_KIND_REDUCTION, operation, type, 0, own_only_}).at(std::max<std::int64_t>(1, n));
  run_for_host(context_.device(), chosen, args, result_bytes(operation, type));
}

double Operations::reduce_real(std::int32_t operation, sxt_value_type type, std::int64_t n, const void *x) {
  const bool single = type == SXT_F32 || type == SXT_C64;
  float f = 0;
  double d = 0;
  reduce(operation, type, n, x, nullptr, single ? static_cast<void *>(&f) : &d);
  return single ? f : d;
}

void Operations::multidot(sxt_value_type type, std::int64_t n, std::int32_t count, const void *const *u,
                          const void *const *v, void *results) {
  sxt_multidot_args args{};
  args.h = {sizeof args, SXT_KIND_MULTIDOT};
  args.n = n;
  args.n_dots = count;
  args.u = u;
  args.v = v;
  args.result = results;
  Runner &chosen = planned({SXT_KIND_MULTIDOT, count, type, 0, own_only_}).at(std::max<std::int64_t>(1, n));
  run_for_host(context_.device(), chosen, args, count * value_bytes(type));
}

}  // namespace sextant
