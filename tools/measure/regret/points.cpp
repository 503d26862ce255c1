// SPDX-License-Identifier: BSD-3-Clause
#include "points.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "core/base/types.hpp"
#include "core/choose/selector.hpp"
#include "core/run/prepared.hpp"
#include "core/run/session_timing.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/kinds/vector_group.h"

namespace regret {

using namespace sextant;

namespace {

constexpr double near_enough = 1.3;      // for other libraries, which the ratios need
constexpr std::int64_t most_sets = 400;  // of operands: no replay has more runs than that
constexpr std::size_t group_vectors = 6;

// One set of operands: args of any of the kinds, with the arrays they point to.
struct Args {
  union {
    sxt_head head;
    sxt_vector_args vector;
    sxt_vector_group_args group;
    sxt_reduction_args reduction;
    sxt_multidot_args multidot;
  };
  const void *u[SXT_MULTIDOT_MAX], *v[SXT_MULTIDOT_MAX];
  Args() : u{}, v{} { std::memset(&group, 0, sizeof group); }
};

sxt_scalar tiny(sxt_value_type type) {
  static const double values[] = {1e-9, 0};
  static const float singles[] = {1e-9F, 0};
  const bool single = type == SXT_F32 || type == SXT_C64;
  return {single ? static_cast<const void *>(singles) : values, 0, 0};
}

template <class A>
void start(A &args, const char *kind, std::int64_t n) {
  args.h = {sizeof args, kind};
  args.n = n;
}

// Set `set`, `stride` bytes after the one before in every vector.
void fill(Args &args, const TreeSubject &subject, std::int64_t n, const Operands &operands, std::int64_t set,
          std::int64_t stride) {
  const auto at = [&](std::size_t i) { return operands.vector(i) + set * stride; };
  if (!std::strcmp(subject.kind, SXT_KIND_REDUCTION)) {
    start(args.reduction, SXT_KIND_REDUCTION, n);
    args.reduction.operation = subject.operation;
    args.reduction.result_on_device = 1;
    args.reduction.x = at(0), args.reduction.y = at(1);
    args.reduction.result = operands.result();
  } else if (!std::strcmp(subject.kind, SXT_KIND_MULTIDOT)) {
    start(args.multidot, SXT_KIND_MULTIDOT, n);
    args.multidot.n_dots = subject.operation;
    for (int i = 0; i < subject.operation; ++i)
      args.u[i] = at(static_cast<std::size_t>(2 * i % Operands::most_vectors)),
      args.v[i] = at(static_cast<std::size_t>((2 * i + 1) % Operands::most_vectors));
    args.multidot.u = args.u, args.multidot.v = args.v;
    args.multidot.result = operands.result();
  } else if (!std::strcmp(subject.kind, SXT_KIND_VECTOR_GROUP)) {
    start(args.group, SXT_KIND_VECTOR_GROUP, n);
    args.group.group = subject.operation;
    for (sxt_scalar &scalar : args.group.scalars) scalar = tiny(subject.type);
    for (std::size_t i = 0; i < group_vectors; ++i) args.group.vectors[i] = at(i);
  } else {
    start(args.vector, SXT_KIND_VECTOR, n);
    args.vector.operation = subject.operation;
    args.vector.index_type = subject.index_type;
    args.vector.alpha = args.vector.beta = tiny(subject.type);
    args.vector.x = at(0), args.vector.y = at(1), args.vector.z = at(2);
  }
}

bool contains(const std::string &name, std::initializer_list<const char *> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char *word) { return name.find(word) != std::string::npos; });
}
bool published_step(const std::string &name) {
  return contains(name, {"interleaved", "strided", "sequential", "unrolled", "overload"});
}

// The place of a choice's grid in its kernel's list; grids that are equal at this n have the first one's.
std::uint64_t place_of(const Choice &choice, const TreeSubject &subject, std::int64_t n, Context &context) {
  const std::vector<sxt_candidate> list = candidates_of(context, *choice.kernel, subject.at(n));
  for (std::uint64_t i = 0; i < list.size(); ++i)
    if (std::equal(list[i].launch, list[i].launch + 4, choice.candidate.launch)) return i;
  return list.size();
}

double measure_one(Context &context, const ChoicePtr &choice, std::span<sxt_head *const> args, double predicted_s,
                   double budget_s, int samples) {
  const Prepared prepared(context, choice, nullptr, nullptr);
  const std::unique_ptr<Session> session = const_cast<Prepared &>(prepared).open();
  return time_session(context, *session, args, predicted_s, budget_s, samples).seconds;
}

}  // namespace

double Measured::first_s(Regime regime) const {
  return regime == both ? std::sqrt(first[hot] * first[cold]) : first[regime];
}
double Measured::second_s(Regime regime) const {
  return regime == both ? std::sqrt(second[hot] * second[cold]) : second[regime];
}
double Measured::seconds(Regime regime) const { return std::sqrt(first_s(regime) * second_s(regime)); }

const Measured *Point::fastest(Regime regime) const {
  const Measured *best = nullptr;
  for (const Measured &each : all)
    if (each.judged && (!best || each.seconds(regime) < best->seconds(regime))) best = &each;
  return best;
}

double Point::regret(const Measured &taken, Regime regime) const {
  const auto least = [&](auto seconds) {
    const Measured *best = nullptr;
    for (const Measured &each : all)
      if (each.judged && (!best || seconds(each) < seconds(*best))) best = &each;
    return best;
  };
  const auto first = [&](const Measured &each) { return each.first_s(regime); };
  const auto second = [&](const Measured &each) { return each.second_s(regime); };
  const Measured *by_first = least(first), *by_second = least(second);
  if (!by_first) return NAN;
  return std::sqrt(second(taken) / second(*by_first) * first(taken) / first(*by_second));
}

const Measured *Point::find(const Context &context, const TreeSubject &subject, const std::string &kernel,
                            std::uint64_t candidate) const {
  for (const Measured &each : all) {
    if (each.kernel->name() != kernel) continue;
    if (each.candidate == candidate) return &each;
    // Another grid that is equal at this n.
    const std::vector<sxt_candidate> list = candidates_of(context, *each.kernel, subject.at(n));
    if (candidate >= list.size() || each.candidate >= list.size()) return nullptr;
    const std::int64_t *launch = list[candidate].launch;
    if (std::equal(launch, launch + 4, list[each.candidate].launch)) return &each;
  }
  return nullptr;
}

const Measured *Point::find(const registry::Kernel *kernel, std::uint64_t candidate) const {
  for (const Measured &each : all)
    if (each.kernel == kernel && each.candidate == candidate) return &each;
  return nullptr;
}

std::vector<sxt_candidate> candidates_of(const Context &context, const registry::Kernel &kernel, const Query &query) {
  std::vector<sxt_candidate> list(64);
  std::uint64_t count = 0;
  const sxt_features none{};
  if (kernel.table.candidates(query.get(), &none, &context.machine(), nullptr, list.data(), list.size(), &count) !=
      SXT_OK)
    return {};
  list.resize(std::min<std::size_t>(count, list.size()));
  return list;
}

TreeSubject subject_named(const std::string &name) {
  const std::size_t dash = name.rfind('-');
  const std::string type = dash == std::string::npos ? "" : name.substr(dash + 1);
  const std::pair<const char *, sxt_value_type> types[] = {
      {"f32", SXT_F32}, {"f64", SXT_F64}, {"c64", SXT_C64}, {"c128", SXT_C128}};
  for (const auto &[text, value] : types)
    if (type == text) return tree_subject(name.substr(0, dash), value);
  fail(SXT_E_ARGUMENT, "'", name, "' is no operation and type, as dot-f64 is");
}

namespace {

template <class I>
void fill_places(std::vector<char> &bytes, std::int64_t n) {
  bytes.resize(static_cast<std::size_t>(n) * sizeof(I));
  I *places = reinterpret_cast<I *>(bytes.data());
  // Odd, and so large that neighbours lie far apart; a prime: no n up to it has a divisor in common with it.
  constexpr std::uint64_t jump = 2654435761u;
  for (std::int64_t i = 0; i < n; ++i)
    places[i] = static_cast<I>(static_cast<std::uint64_t>(i) * jump % static_cast<std::uint64_t>(n));
}

}  // namespace

const void *Operands::index(Device &device, std::int64_t n, sxt_index_type type) {
  std::vector<char> places;
  if (type == SXT_I64)
    fill_places<std::int64_t>(places, n);
  else
    fill_places<std::int32_t>(places, n);
  index_ = DeviceBuffer(device, places.size());
  device.copy(index_.data(), places.data(), index_.bytes());
  return index_.data();
}

Operands::Operands(Device &device, std::int64_t longest)
    : bytes_(static_cast<std::uint64_t>(longest) * 8), result_(device, 256) {
  // Bits that are small numbers in every type.
  const std::vector<std::uint32_t> pattern(1 << 20, 0x3a003a00u);
  const std::uint64_t part = std::min<std::uint64_t>(bytes(), pattern.size() * sizeof pattern[0]);
  for (std::int64_t i = 0; i < most_vectors; ++i) {
    vectors_.emplace_back(device, bytes());
    device.copy(vectors_.back().data(), pattern.data(), part);
    for (std::uint64_t done = part; done < bytes(); done *= 2)
      device.copy(vectors_.back().as<char>() + done, vectors_.back().data(), std::min(done, bytes() - done));
  }
}

namespace {

// All sets of operands of one length.
struct Sets {
  std::vector<Args> args;
  std::vector<sxt_head *> heads;
  Sets(Context &context, const TreeSubject &subject, std::int64_t n, Operands &operands) {
    const std::int64_t stride = (n * value_bytes(subject.type) + 255) / 256 * 256;
    const auto whole = static_cast<std::int64_t>(operands.bytes()) / stride;
    const void *index = subject.index_type ? operands.index(context.device(), n, subject.index_type) : nullptr;
    args.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(whole, 1, most_sets)));
    for (std::size_t set = 0; set < args.size(); ++set) {
      fill(args[set], subject, n, operands, static_cast<std::int64_t>(set), stride);
      if (index) args[set].vector.index = index;
      heads.push_back(&args[set].head);
    }
  }
  bool single() const { return heads.size() == 1; }  // more than any cache holds: it is never hot
  std::span<sxt_head *const> of(Regime regime) const { return {heads.data(), regime == hot ? 1 : heads.size()}; }
};

std::vector<ChoicePtr> worth_measuring(Context &context, const TreeSubject &subject, std::int64_t n, bool steps,
                                       const Effort &effort) {
  std::vector<ChoicePtr> choices = Selector(context, nullptr).every({subject.at(n), subject.kind});
  const double least_s = choices.empty() ? 0 : choices.front()->run_s;
  std::erase_if(choices, [&](const ChoicePtr &choice) {
    const bool hopeless = choice->run_s > effort.long_run_s && choice->run_s > effort.far * least_s;
    return choice->kernel->has(SXT_KERNEL_REFERENCE) || (!steps && published_step(choice->kernel->name())) ||
           (hopeless && !steps && !choice->kernel->has(SXT_KERNEL_BASELINE));
  });
  return choices;
}

}  // namespace

Point measure(Context &context, const TreeSubject &subject, std::int64_t n, Operands &operands, bool steps,
              const Effort &effort) {
  const Sets sets(context, subject, n, operands);
  Point point{n, {}};
  std::vector<ChoicePtr> choices;  // of the measured
  const auto take = [&](const Measured &each, const ChoicePtr &choice, Regime regime, double budget_s) {
    const double expected = std::max(each.first[regime] > 0 ? each.first[regime] : choice->run_s, 1e-6);
    return measure_one(context, choice, sets.of(regime), expected, budget_s, effort.samples);
  };
  for (const ChoicePtr &choice : worth_measuring(context, subject, n, steps, effort)) {
    const bool baseline = choice->kernel->has(SXT_KERNEL_BASELINE);
    Measured each;
    each.kernel = choice->kernel;
    each.candidate = place_of(*choice, subject, n, context);
    if (point.find(each.kernel, each.candidate)) continue;  // measured already, as another grid that is equal here
    each.judged = !published_step(choice->kernel->name()) && !baseline;
    std::copy_n(choice->candidate.launch, 4, each.launch);
    try {
      for (const Regime regime : {hot, cold})
        each.first[regime] = each.second[regime] =
            regime == cold && sets.single() ? each.first[hot] : take(each, choice, regime, effort.quick_s);
    } catch (const Error &) {
      if (!baseline) throw;
      continue;  // a library that is not available here
    }
    point.all.push_back(each);
    choices.push_back(choice);
  }
  for (const Regime regime : {hot, cold}) {
    const Measured *best = point.fastest(regime);
    if (!best || (regime == cold && sets.single())) continue;
    const double least = best->first[regime];
    std::vector<std::size_t> finalists;
    for (std::size_t i = 0; i < choices.size(); ++i)
      if (point.all[i].first[regime] <
          least * (choices[i]->kernel->has(SXT_KERNEL_BASELINE) ? near_enough : effort.near))
        finalists.push_back(i);
    for (const std::size_t i : finalists)
      point.all[i].first[regime] = take(point.all[i], choices[i], regime, effort.careful_s);
    for (const std::size_t i : finalists)
      point.all[i].second[regime] = take(point.all[i], choices[i], regime, effort.careful_s);
  }
  if (sets.single())
    for (Measured &each : point.all) each.first[cold] = each.first[hot], each.second[cold] = each.second[hot];
  return point;
}

}  // namespace regret
