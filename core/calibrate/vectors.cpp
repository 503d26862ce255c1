// SPDX-License-Identifier: BSD-3-Clause
// Samples of vector operations, groups of them and reductions, over sizes from launch-bound to several caches.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/types.hpp"
#include "core/calibrate/sampler.hpp"
#include "core/choose/selector.hpp"
#include "core/context/context.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/kinds/vector_group.h"

namespace sextant {

namespace {

constexpr int most_vectors = 8;
// Lengths: so many, each longer than the one before by the factor. A device with a memory of its own needs longer
// vectors before bytes decide, has room for them, and has grids to tell apart.
struct Lengths {
  double smallest, factor;
  int count;
  int few;  // at every how many of them hopeless candidates are measured, too
};
constexpr Lengths on_the_host = {50, 2, 19, 5}, on_a_device = {1000, 1.189207115002721, 72, 9};
constexpr double longer_on_a_device = 32;
constexpr double memory_share = 1.0 / 3;        // of its memory at most
constexpr std::int64_t most_indexed = 1 << 25;  // indices are made on the host, one by one
constexpr std::int64_t first_part = 1 << 20;    // elements that are made on the host
// What is predicted to take so many times the least, or took so many times the least at a length nearby, is measured at
// a few lengths only: it would not be chosen.
constexpr double hopeless_vector = 2.5, beaten = 1.5;
constexpr int nearby = 4;
constexpr std::int64_t most_sets = 400;  // of operands: no replay has more runs than that

// Vectors that all operations share, of the longest length, and scalars of every type.
class VectorOperands {
 public:
  VectorOperands(Context &context, sxt_value_type type, std::int64_t n) : type_(type) {
    Device &device = context.device();
    const auto bytes = static_cast<std::uint64_t>(n * value_bytes(type));
    const std::vector<double> ones = values(std::min(n, first_part));
    const std::uint64_t part = std::min(bytes, static_cast<std::uint64_t>(first_part * value_bytes(type)));
    for (DeviceBuffer &vector : vectors_) {
      vector = DeviceBuffer(device, bytes);
      device.copy(vector.data(), ones.data(), part);
      // What is there is doubled: within a device that is faster than from the host.
      for (std::uint64_t done = part; done < bytes; done *= 2)
        device.copy(vector.as<char>() + done, vector.data(), std::min(done, bytes - done));
    }
    index_ = DeviceBuffer(device, static_cast<std::uint64_t>(n) * sizeof(std::int32_t));
    results_ = DeviceBuffer(device, 256);
    with_value_type(type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      new (small_) T(static_cast<T>(1e-6));
      new (one_) T(static_cast<T>(1));
    });
  }
  void *vector(int i) const { return vectors_[static_cast<std::size_t>(i)].data(); }
  sxt_scalar small() const { return {small_, 0, 0}; }  // repeated updates neither overflow nor vanish
  sxt_scalar one() const { return {one_, 0, 0}; }
  void *results() const { return results_.data(); }
  // A permutation of 0 .. n-1 that jumps: consecutive places are a large prime apart.
  const void *index(Context &context, std::int64_t n) {
    std::vector<std::int32_t> places(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
      places[static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>(static_cast<std::uint64_t>(i) * 2654435761u % static_cast<std::uint64_t>(n));
    context.device().copy(index_.data(), places.data(), places.size() * sizeof(std::int32_t));
    return index_.data();
  }

 private:
  // Ones in any type: as bytes of the type, in an array that is long enough.
  std::vector<double> values(std::int64_t n) const {
    std::vector<double> memory(static_cast<std::size_t>(n * value_bytes(type_) / 8 + 1));
    with_value_type(type_, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T *to = reinterpret_cast<T *>(memory.data());
      for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(1);
    });
    return memory;
  }
  sxt_value_type type_;
  std::array<DeviceBuffer, most_vectors> vectors_;
  DeviceBuffer index_, results_;
  alignas(16) unsigned char small_[16] = {}, one_[16] = {};
};

// One operation at one length: its query and its args, for the kind it belongs to.
struct Operation {
  Query query;
  union {
    sxt_head head;
    sxt_vector_args vector;
    sxt_vector_group_args group;
    sxt_reduction_args reduction;
    sxt_multidot_args multidot;
  };
  const void *u[SXT_MULTIDOT_MAX], *v[SXT_MULTIDOT_MAX];
  Operation() : vector{} {}
};

template <class P>
void shift(P *&pointer, std::int64_t bytes) {
  using Byte = std::conditional_t<std::is_const_v<P>, const char, char>;
  if (pointer) pointer = static_cast<Byte *>(pointer) + bytes;
}

// The same operation on operands that lie so many bytes further on. Indices and results stay.
void move_operands(Operation &op, const std::string &kind, std::int64_t bytes) {
  if (kind == SXT_KIND_VECTOR) shift(op.vector.x, bytes), shift(op.vector.y, bytes), shift(op.vector.z, bytes);
  if (kind == SXT_KIND_REDUCTION) shift(op.reduction.x, bytes), shift(op.reduction.y, bytes);
  if (kind == SXT_KIND_VECTOR_GROUP)
    for (void *&vector : op.group.vectors) shift(vector, bytes);
  if (kind != SXT_KIND_MULTIDOT) return;
  for (int i = 0; i < op.multidot.n_dots; ++i) shift(op.u[i], bytes), shift(op.v[i], bytes);
  op.multidot.u = op.u, op.multidot.v = op.v;
}

template <class Q>
Q new_query(const char *kind, sxt_value_type type, std::int64_t n) {
  Q query{};
  query.q.h = {sizeof(Q), kind};
  query.q.expected_runs = 1000;
  query.q.value_type = type;
  query.n = n;
  return query;
}

void make_vector(Operation &op, Context &context, VectorOperands &operands, sxt_value_type type, int which,
                 std::int64_t n) {
  auto query = new_query<sxt_vector_query>(SXT_KIND_VECTOR, type, n);
  query.operation = which + 1;
  const bool indexed = query.operation == SXT_VECTOR_GATHER || query.operation == SXT_VECTOR_SCATTER;
  query.index_type = indexed ? SXT_I32 : 0;
  op.query = Query(&query.q);
  op.vector = {};
  op.vector.h = {sizeof op.vector, SXT_KIND_VECTOR};
  op.vector.n = n;
  op.vector.operation = query.operation;
  op.vector.index_type = query.index_type;
  op.vector.alpha = query.operation == SXT_VECTOR_SCALE ? operands.one() : operands.small();
  op.vector.beta = operands.one();
  op.vector.x = operands.vector(0);
  op.vector.y = operands.vector(1);
  op.vector.z = operands.vector(2);
  if (indexed) op.vector.index = operands.index(context, n);
}

void make_group(Operation &op, VectorOperands &operands, sxt_value_type type, int which, std::int64_t n) {
  auto query = new_query<sxt_vector_group_query>(SXT_KIND_VECTOR_GROUP, type, n);
  query.group = which + 1;
  op.query = Query(&query.q);
  op.group = {};
  op.group.h = {sizeof op.group, SXT_KIND_VECTOR_GROUP};
  op.group.n = n;
  op.group.group = query.group;
  for (sxt_scalar &scalar : op.group.scalars) scalar = operands.small();
  for (int i = 0; i < most_vectors; ++i) op.group.vectors[i] = operands.vector(i);
}

void make_reduction(Operation &op, bool on_host, VectorOperands &operands, sxt_value_type type, int which,
                    std::int64_t n) {
  auto query = new_query<sxt_reduction_query>(SXT_KIND_REDUCTION, type, n);
  query.operation = which + 1;
  op.query = Query(&query.q);
  op.reduction = {};
  op.reduction.h = {sizeof op.reduction, SXT_KIND_REDUCTION};
  op.reduction.n = n;
  op.reduction.operation = query.operation;
  op.reduction.x = operands.vector(0);
  op.reduction.y = operands.vector(1);
  op.reduction.result = operands.results();
  op.reduction.result_on_device = on_host ? 0 : 1;
}

void make_multidot(Operation &op, VectorOperands &operands, sxt_value_type type, int which, std::int64_t n) {
  constexpr int counts[] = {1, 2, 3, 4};
  auto query = new_query<sxt_multidot_query>(SXT_KIND_MULTIDOT, type, n);
  query.n_dots = counts[which];
  query.distinct = counts[which] + 1;  // as in a PCG: one vector stands in all products
  op.query = Query(&query.q);
  op.multidot = {};
  op.multidot.h = {sizeof op.multidot, SXT_KIND_MULTIDOT};
  op.multidot.n = n;
  op.multidot.n_dots = query.n_dots;
  for (int i = 0; i < counts[which]; ++i) {
    op.u[i] = operands.vector(0);
    op.v[i] = operands.vector(1 + i);
  }
  op.multidot.result = operands.results();
}

// On a device runs take turns over as many sets of operands as there is room for: how much of them
// the last cache will hold in a program is not known.
std::vector<Operation> sets_of(const Operation &op, const std::string &kind, std::int64_t bytes, std::int64_t room) {
  const std::int64_t apart = (bytes + 255) / 256 * 256;
  const auto count = std::clamp<std::int64_t>(room / std::max<std::int64_t>(apart, 1), 1, most_sets);
  std::vector<Operation> sets(static_cast<std::size_t>(count), op);
  for (std::size_t i = 0; i < sets.size(); ++i) move_operands(sets[i], kind, static_cast<std::int64_t>(i) * apart);
  return sets;
}

int operations_of(std::string_view kind) {
  int vector = 0, reduction = 0, group = 0;
#define SXT_X(...) ++vector;
  SXT_VECTOR_TABLE(SXT_X)
#undef SXT_X
#define SXT_X(...) ++reduction;
  SXT_REDUCTION_TABLE(SXT_X)
#undef SXT_X
#define SXT_X(...) ++group;
  SXT_VECTOR_GROUP_TABLE(SXT_X)
#undef SXT_X
  return kind == SXT_KIND_VECTOR         ? vector
         : kind == SXT_KIND_REDUCTION    ? reduction
         : kind == SXT_KIND_VECTOR_GROUP ? group
                                         : 4;
}

Operation make_operation(Context &context, VectorOperands &operands, const std::string &kind, sxt_value_type type,
                         int which, std::int64_t n) {
  Operation op;
  if (kind == SXT_KIND_VECTOR) make_vector(op, context, operands, type, which, n);
  if (kind == SXT_KIND_VECTOR_GROUP) make_group(op, operands, type, which, n);
  if (kind == SXT_KIND_REDUCTION) make_reduction(op, context.device().on_host(), operands, type, which, n);
  if (kind == SXT_KIND_MULTIDOT) make_multidot(op, operands, type, which, n);
  return op;
}

// Operations of one class have one model. On a device, where there are many grids, the first of them stands for all: at
// other lengths another one, a percent slower, would look like noise.
using Class = std::pair<const registry::Kernel *, std::uint32_t>;
std::map<Class, int> representatives(Context &context, VectorOperands &operands, const std::string &kind,
                                     sxt_value_type type, std::int64_t n) {
  std::map<Class, int> first;
  for (int which = 0; which < operations_of(kind); ++which) {
    const Operation op = make_operation(context, operands, kind, type, which, n);
    for (const ChoicePtr &choice : Selector(context, nullptr).every({op.query, kind}))
      first.try_emplace({choice->kernel, choice->candidate.model_class}, which);
  }
  return first;
}

// Which models were far from the best, and where: at lengths beside those there is little to learn of them.
class Standing {
 public:
  // All that was measured of one operation at one length.
  void add(int size, const std::vector<std::pair<Class, double>> &seconds) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto &[model, each] : seconds) least = std::min(least, each > 0 ? each : least);
    for (const auto &[model, each] : seconds)
      if (each > 0) ratios_[model][size] = each / least;
  }
  bool far_from_best(const Class &model, int size) const {
    const auto found = ratios_.find(model);
    if (found == ratios_.end()) return false;
    int distance = nearby + 1;
    double ratio = 0;
    for (const auto &[at, each] : found->second)
      if (std::abs(at - size) < distance) distance = std::abs(at - size), ratio = each;
    return ratio > beaten;
  }

 private:
  std::map<Class, std::map<int, double>> ratios_;
};

}  // namespace

void calibrate_vectors(Context &context, const CalibrationSettings &settings, const CalibrationClock &clock,
                       Sampler &sampler, const std::string &kind, sxt_value_type type, double until) {
  const double start = clock.elapsed();
  const Lengths &lengths = context.device().on_host() ? on_the_host : on_a_device;
  const double factor = context.device().on_host() ? 1 : longer_on_a_device;
  double bytes = factor * settings.most_bytes * std::min(1.0, (until - start) / 2);
  if (!context.device().on_host())
    bytes = std::min(bytes, memory_share * static_cast<double>(context.machine().memory_bytes));
  const auto longest = static_cast<std::int64_t>(bytes) / most_vectors / value_bytes(type);
  if (longest < 1000) return;
  VectorOperands operands(context, type, longest);
  const int operations = operations_of(kind);
  // About four candidates each, more on a device; short runs need little time, long ones take theirs anyway.
  const double most_s = context.device().on_host() ? 2e-3 : 5e-4;
  const double sample_s = std::clamp((until - start) / (8.0 * lengths.count * operations), 5e-5, most_s);
  Standing standing;
  std::map<Class, int> stands_for;
  if (!context.device().on_host())
    stands_for = representatives(context, operands, kind, type, static_cast<std::int64_t>(lengths.smallest));
  // Neighbouring steps are far apart in size, so that wherever the time ends the sizes seen span all of them.
  for (int step = 0; step < lengths.count * operations; ++step) {
    const int size = step * 7 % lengths.count, which = (step / lengths.count + step) % operations;
    const auto n = static_cast<std::int64_t>(lengths.smallest * std::pow(lengths.factor, size) * (1 + 0.03 * which));
    const bool indexed = kind == SXT_KIND_VECTOR && (which + 1 == SXT_VECTOR_GATHER || which + 1 == SXT_VECTOR_SCATTER);
    if (n > longest || (indexed && n > most_indexed)) continue;
    if (clock.elapsed() > until) return;
    clock.report(text(kind, " ", value_name(type), ", n = ", n));
    const Operation op = make_operation(context, operands, kind, type, which, n);
    std::vector<Operation> sets =
        sets_of(op, kind, n * value_bytes(type), context.device().on_host() ? 0 : longest * value_bytes(type));
    std::vector<sxt_head *> heads;
    for (Operation &each : sets) heads.push_back(&each.head);
    Selector selector(context, nullptr);
    const std::vector<ChoicePtr> choices = selector.every({op.query, kind});
    std::vector<std::pair<Class, double>> seconds;
    for (const ChoicePtr &choice : choices) {
      const Class model{choice->kernel, choice->candidate.model_class};
      const auto stands = stands_for.find(model);
      if (!Sampler::wanted(*choice->kernel) || clock.elapsed() >= until ||
          (stands != stands_for.end() && stands->second != which))
        continue;
      if (size % lengths.few != 0 && (choice->run_s >= hopeless_vector * choices[0]->run_s ||
                                      (stands != stands_for.end() && standing.far_from_best(model, size))))
        continue;
      seconds.emplace_back(model, sampler.measure(choice, nullptr, heads, size, sample_s));
    }
    standing.add(size, seconds);
  }
}

}  // namespace sextant
