// SPDX-License-Identifier: BSD-3-Clause
#include "core/dispatch/operations.hpp"

#include <bit>
#include <cstdint>

#include "core/base/types.hpp"
#include "core/context/context.hpp"
#include "core/dispatch/select.hpp"

namespace sextant {

namespace {

// A kernel chosen for the upper end of n's power of two serves every n below it: its scratch suffices.
int bucket_of(std::int64_t n) { return n <= 1 ? 0 : std::bit_width(static_cast<std::uint64_t>(n - 1)); }
std::int64_t bucket_end(int bucket) { return std::int64_t{1} << bucket; }

// Small operations are called again and again; their set-up is charged to so many calls.
constexpr double expected_calls = 1000;

template <class Q>
Q base_query(const char *kind, sxt_value_type type) {
  Q query{};
  query.q.h = {sizeof(Q), kind};
  query.q.expected_runs = expected_calls;
  query.q.value_type = type;
  return query;
}

}  // namespace

std::shared_ptr<Runner> Operations::runner(const Key &key, const sxt_query *query) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = runners_.find(key); found != runners_.end()) return found->second;
  }
  Selector selector(context_, nullptr);
  auto made = std::make_shared<Runner>(context_, selector.select(Query(query), query->h.kind), nullptr);
  const std::unique_lock lock(mutex_);
  return runners_.try_emplace(key, std::move(made)).first->second;
}

void Operations::forget() {
  const std::unique_lock lock(mutex_);
  runners_.clear();
}

void Operations::vector(const VectorCall &call) {
  if (call.n == 0) return;
  const int bucket = bucket_of(call.n);
  auto query = base_query<sxt_vector_query>(SXT_KIND_VECTOR, call.type);
  query.n = bucket_end(bucket);
  query.operation = call.operation;
  query.index_type = call.index_type;
  const Key key{SXT_KIND_VECTOR, call.operation * 4 + call.index_type, call.type, bucket};

  sxt_vector_args args{};
  args.h = {sizeof args, SXT_KIND_VECTOR};
  args.n = call.n;
  args.operation = call.operation;
  args.index_type = call.index_type;
  args.alpha.value = call.alpha;
  args.beta.value = call.beta;
  args.x = call.x;
  args.y = call.y;
  args.z = call.z;
  args.index = call.index;
  runner(key, &query.q)->run(&args.h);
}

void Operations::reduce(std::int32_t operation, sxt_value_type type, std::int64_t n, const void *x, const void *y,
                        void *result) {
  const int bucket = bucket_of(n);
  auto query = base_query<sxt_reduction_query>(SXT_KIND_REDUCTION, type);
  query.n = bucket_end(bucket);
  query.operation = operation;
  sxt_reduction_args args{};
  args.h = {sizeof args, SXT_KIND_REDUCTION};
  args.n = n;
  args.operation = operation;
  args.x = x;
  args.y = y;
  args.result = result;
  runner({SXT_KIND_REDUCTION, operation, type, bucket}, &query.q)->run(&args.h);
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
  const int bucket = bucket_of(n);
  auto query = base_query<sxt_multidot_query>(SXT_KIND_MULTIDOT, type);
  query.n = bucket_end(bucket);
  query.n_dots = count;
  query.distinct = 2 * count;
  sxt_multidot_args args{};
  args.h = {sizeof args, SXT_KIND_MULTIDOT};
  args.n = n;
  args.n_dots = count;
  args.u = u;
  args.v = v;
  args.result = results;
  const std::shared_ptr<Runner> chosen = runner({SXT_KIND_MULTIDOT, count, type, bucket}, &query.q);
  const Device &device = context_.device();
  if (device.on_host()) return static_cast<void>(chosen->run(&args.h));
  // The kind's results lie in device space.
  const std::uint64_t bytes = count * value_bytes(type);
  const DeviceBuffer on_device(context_.device(), bytes);
  args.result = on_device.data();
  chosen->run(&args.h);
  device.copy(results, args.result, bytes);
}

}  // namespace sextant
