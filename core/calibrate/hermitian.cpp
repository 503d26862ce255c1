// SPDX-License-Identifier: BSD-3-Clause
// Samples of the kernels for sets of Hermitian systems: orders and numbers of systems far apart, every phase and type.
//
// Runs are repeated on the same memory, so the systems are such that a run leaves another system of the same kind: I +
// E with a small E has a factor I + F with a small F, which read as a matrix has one again, and solving with it changes
// right-hand sides little. A device's runs are timed one at a time, less what a call and its wait take, each after the
// set was copied from another one: run after run finds its code and its matrices in caches, and so does one whose
// matrices were all made from a single one, which a caller's set and code seldom are.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/shortage.hpp"
#include "core/base/types.hpp"
#include "core/calibrate/hermitian.hpp"
#include "core/calibrate/sampler.hpp"
#include "core/choose/selector.hpp"
#include "core/context/context.hpp"
#include "core/model/timing.hpp"
#include "sextant/plugin/kinds/hermitian_step.h"
#include "sextant/plugin/kinds/hermitian_toeplitz.h"

namespace sextant {

namespace {

struct Point {
  std::int64_t n, batch;
};

constexpr std::int64_t orders_on_the_host[] = {4, 8, 16, 32, 64, 100, 160, 256, 400};
constexpr double flops_on_the_host = 4e7, set_memory_share = 0.2;  // of a device's memory, for one array of matrices

// Definite sets on a device: orders and numbers of systems spread evenly over the logarithms of both (Halton 1960), so
// that all sizes have been seen wherever the time ends; half of the sets have more than 160 systems, three orders in
// five are multiples of 16. Four sets in eleven are of small orders alone, where most kernels and shapes are close to
// one another and a set takes next to no time.
constexpr int most_definite_points = 160;
constexpr double least_order = 8, order_span = 200, small_order_span = 20, batch_span = 4000, most_cubes = 1.5e11;

double van_der_corput(int i, int base) {
  double value = 0, digit = 1;
  for (; i > 0; i /= base) value += (digit /= base) * (i % base);
  return value;
}
std::vector<Point> definite_points() {
  std::vector<Point> points;
  for (int i = 1; static_cast<int>(points.size()) < most_definite_points; ++i) {
    const double span = i % 11 < 4 ? small_order_span : order_span,
                 order = least_order * std::pow(span, van_der_corput(i, 2)),
                 batch = std::pow(batch_span, std::pow(van_der_corput(i, 3), 0.7));
    if (order * order * order * batch > most_cubes) continue;
    const auto n = static_cast<std::int64_t>(order);
    points.push_back({i % 5 < 2 ? n : (n + 15) / 16 * 16, static_cast<std::int64_t>(batch)});
  }
  return points;
}
constexpr Point indefinite_points[] = {{64, 1000}, {16, 1000}, {176, 528}, {128, 1000}, {350, 264},
                                       {32, 4000}, {100, 300}, {256, 528}, {48, 600},   {200, 64},
                                       {512, 132}, {80, 1500}, {700, 132}, {300, 132},  {1024, 64}};
constexpr Point other_points[] = {{64, 1000}, {350, 264}, {16, 4000}, {700, 132}, {176, 528},
                                  {32, 1000}, {512, 264}, {100, 300}, {256, 64},  {1024, 132}};

constexpr double hopeless_system = 3;  // times the best prediction
// Candidates that are not measured at each point; prime to the bases of the sequence, so that
// they do not fall on one size alone.
constexpr int others_every = 5, hopeless_every = 7;
constexpr double short_s = 1e-3;
constexpr double longest_s = 0.06, longest_of_others_s = 0.01;
constexpr int timed_long_runs = 2, timed_short_runs = 9, least_replays = 3;

std::vector<Point> points_of(const Context &context, sxt_value_type type, double most_bytes,
                             std::span<const Point> on_a_device) {
  std::vector<Point> wanted(on_a_device.begin(), on_a_device.end()), points;
  if (context.device().on_host()) {
    wanted.clear();
    for (const std::int64_t n : orders_on_the_host) {
      const double each = std::pow(static_cast<double>(n), 3) / 3;
      wanted.push_back({n, std::clamp<std::int64_t>(static_cast<std::int64_t>(flops_on_the_host / each), 4, 4000)});
    }
  }
  for (const Point &point : wanted)
    if (static_cast<double>(point.n * point.n * point.batch * value_bytes(type)) <= most_bytes) points.push_back(point);
  return points;
}

// One system's numbers in their type. kind: 0 near the identity, 1 the same and Toeplitz, 2 indefinite.
std::vector<double> numbers_of(std::int64_t n, sxt_value_type type, int kind) {
  std::vector<double> memory(static_cast<std::size_t>(n * n * value_bytes(type)) / sizeof(double) + 1);
  std::uint64_t state = 12345;
  const auto random = [&] {  // a linear congruential generator is random enough to search pivots in
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) * 0x1p-52 - 1;
  };
  with_value_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *const a = reinterpret_cast<T *>(memory.data());
    const double small = kind == 2 ? 1 : 1e-3 / static_cast<double>(n);
    for (std::int64_t j = 0; j < n; ++j) {
      a[j + j * n] = static_cast<T>(kind == 2 ? small * random() : 1.0);
      for (std::int64_t i = j + 1; i < n; ++i) {
        const auto part = [&] { return kind == 1 ? small * static_cast<double>(1 + (i - j) % 3) : small * random(); };
        a[i + j * n] = a[j + i * n] = static_cast<T>(part());
        if constexpr (is_complex<T>) a[i + j * n].imag(part()), a[j + i * n] = std::conj(a[i + j * n]);
      }
    }
  });
  return memory;
}

// The memory of a set, and its steps.
class Set {
 public:
  Set(Context &context, Point point, sxt_value_type type, int kind)
      : context_(context),
        point_(point),
        type_(type),
        one_(context.device(), bytes(point.n)),
        originals_(context.device(), context.device().on_host() ? 0 : bytes(point.n * point.batch)),
        matrices_(context.device(), bytes(point.n * point.batch)),
        rhs_(context.device(), bytes_of(point.n * point.batch)),
        other_rhs_(context.device(), bytes_of(point.n * point.batch)),
        info_(context.device(), static_cast<std::uint64_t>(point.batch) * sizeof(std::int32_t)),
        pivots_(context.device(), static_cast<std::uint64_t>(point.batch * point.n) * sizeof(std::int32_t)),
        numbers_(context.device(), static_cast<std::uint64_t>(point.batch) * sizeof(double)) {
    const std::vector<double> numbers = numbers_of(point.n, type, kind);
    context.device().copy(one_.data(), numbers.data(), one_.bytes());
    none_.resize(std::max(rhs_.bytes(), info_.bytes()));
    for (DeviceBuffer *each : {&rhs_, &other_rhs_, &info_})
      context.device().copy(each->data(), none_.data(), each->bytes());
    // Each row its own pivot: a solve may be measured where time was short for the factorisation before it.
    std::vector<std::int32_t> pivots(static_cast<std::size_t>(point.batch * point.n));
    for (std::size_t i = 0; i < pivots.size(); ++i)
      pivots[i] = 1 + static_cast<std::int32_t>(i % static_cast<std::size_t>(point.n));
    context.device().copy(pivots_.data(), pivots.data(), pivots_.bytes());
    copy_ = std::make_unique<Prepared>(context, Selector(context, nullptr).select({step_query(), "copy"}), nullptr,
                                       nullptr);
    session_ = copy_->open();
    if (originals_.bytes() > 0) copy(one_, 0, originals_, point_.batch, point_.n);
    restore();
    // What a call and the wait for its end take beside the work: that of one number, which is next to none: a whole
    // system would be copied by one block of a device, which is work at large orders.
    for (int run = 0; run < 5; ++run) {
      const double start = seconds_now();
      copy(one_, 0, matrices_, 1, 1);
      around_s_ = std::min(around_s_, seconds_now() - start);
    }
  }

  void restore() {
    context_.device().copy(info_.data(), none_.data(), info_.bytes());
    const bool apart = originals_.bytes() > 0;
    copy(apart ? originals_ : one_, apart ? point_.n * point_.n : 0, matrices_, point_.batch, point_.n);
  }
  // stride: 0 where all systems are copied from one.
  void copy(const DeviceBuffer &from, std::int64_t stride, const DeviceBuffer &to, std::int64_t systems,
            std::int64_t order) {
    sxt_hermitian_step_args args = step_args(SXT_HERMITIAN_COPY);
    args.batch = systems, args.n_max = order;
    args.a.data = from.data(), args.a.ld = args.c.ld = point_.n, args.a.stride = stride;
    args.c.data = to.data(), args.c.stride = point_.n * point_.n;
    session_->run(&args.h);
    wait();
  }
  double around_s() const { return around_s_; }
  void wait() const { context_.device().wait(context_.device().callers_stream()); }

  Query step_query() const {
    sxt_hermitian_step_query q{};
    q.q = {{sizeof q, SXT_KIND_HERMITIAN_STEP}, 1000, 0, type_};
    q.batch = point_.batch, q.n_max = point_.n, q.n_rhs = 1;
    q.sum_n1 = static_cast<double>(point_.n * point_.batch);
    q.sum_n2 = q.sum_n1 * static_cast<double>(point_.n);
    return Query(&q.q);
  }
  sxt_hermitian_step_args step_args(std::int32_t step) const {
    sxt_hermitian_step_args args{};
    args.h = {sizeof args, SXT_KIND_HERMITIAN_STEP};
    args.step = step;
    args.value_type = type_;
    args.triangle = SXT_LOWER;
    args.batch = point_.batch, args.n_max = point_.n, args.n_rhs = 1;
    args.numbers = numbers_.as<double>();
    args.info = info_.as<std::int32_t>();
    return args;
  }
  // The step that costs most, and by which all are judged.
  sxt_hermitian_step_args residual() const {
    sxt_hermitian_step_args args = step_args(SXT_HERMITIAN_RESIDUAL);
    args.a.data = matrices_.data(), args.a.ld = args.b.ld = args.c.ld = point_.n;
    args.a.stride = point_.n * point_.n, args.b.stride = args.c.stride = point_.n;
    args.b.data = rhs_.data(), args.c.data = other_rhs_.data();
    return args;
  }
  Query query(const char *kind, std::int32_t phase, std::int32_t definiteness) const {
    sxt_hermitian_query q{};
    q.q = {{sizeof q, kind}, 1000, 0, type_};
    q.batch = point_.batch, q.n_max = q.n_min = point_.n, q.n_rhs = 1;
    q.sum_n1 = static_cast<double>(point_.n * point_.batch);
    q.sum_n2 = q.sum_n1 * static_cast<double>(point_.n);
    q.sum_n3 = q.sum_n2 * static_cast<double>(point_.n);
    q.phase = phase, q.definiteness = definiteness, q.triangle = SXT_LOWER;
    q.may_spoil = 1;  // else other libraries' kernels would stay unmeasured
    return Query(&q.q);
  }
  sxt_hermitian_args args(const char *kind, std::int32_t phase, std::int32_t definiteness) const {
    sxt_hermitian_args a{};
    a.h = {sizeof a, kind};
    a.phase = phase, a.definiteness = definiteness, a.value_type = type_, a.triangle = SXT_LOWER;
    a.batch = point_.batch, a.n_max = point_.n, a.n_rhs = 1;
    a.a = matrices_.data(), a.lda = point_.n, a.stride_a = point_.n * point_.n;
    if (phase != SXT_HERMITIAN_FACTOR) a.b = rhs_.data(), a.ldb = a.stride_b = point_.n;
    a.info = info_.as<std::int32_t>();
    a.pivots = pivots_.as<std::int32_t>(), a.stride_pivots = point_.n;
    return a;
  }

 private:
  std::uint64_t bytes_of(std::int64_t values) const { return static_cast<std::uint64_t>(values * value_bytes(type_)); }
  std::uint64_t bytes(std::int64_t columns) const { return bytes_of(point_.n * columns); }

  Context &context_;
  Point point_;
  sxt_value_type type_;
  std::vector<char> none_;  // zeros
  DeviceBuffer one_, originals_, matrices_, rhs_, other_rhs_, info_, pivots_, numbers_;
  std::unique_ptr<Prepared> copy_;
  std::unique_ptr<Session> session_;
  double around_s_ = 1;
};

// One kind of sets, for a part of the time.
class TimedStage {
 public:
  TimedStage(Context &context, const CalibrationClock &clock, Sampler &sampler, double until, std::size_t points)
      : context_(context),
        clock_(clock),
        sampler_(sampler),
        until_(until),
        sample_s_(std::clamp((until - clock.elapsed()) / (40.0 * static_cast<double>(points + 1)), 1e-4, 2e-2)) {}

  bool over() const { return clock_.elapsed() > until_; }

  // Candidates that are not far behind by what is predicted. overwrites: a run takes the matrices away, so that a
  // device has them made anew before the next one; repeat: the host need not.
  void measure(Set &set, const Query &query, sxt_head *args, int family, bool overwrites, bool repeat) {
    std::vector<ChoicePtr> choices;
    try {
      choices = Selector(context_, nullptr).every({query, query.kind()});
    } catch (const Error &) {  // no kernel does this here
    }
    for (const ChoicePtr &choice : choices) {
      const bool others = choice->kernel->has(SXT_KERNEL_BASELINE);
      const double most_s = others ? longest_of_others_s : longest_s;
      if (!Sampler::wanted(*choice->kernel) || over() || choice->run_s > most_s) continue;
      if (others && family % others_every != 0) continue;  // handles take longer to make than all our runs of a point
      const bool behind = choice->run_s > hopeless_system * choices[0]->run_s;
      if (behind && (family % hopeless_every != 0 || choice->run_s > short_s)) continue;
      if (4 * choice->run_s > 0.3 * (until_ - clock_.elapsed())) continue;
      sxt_head *const heads[] = {args};
      set.restore();  // what some thousand runs of the last one have added up to
      if (repeat && choice->run_s < short_s && context_.device().on_host())
        sampler_.measure(choice, nullptr, heads, family, sample_s_, least_replays);
      else
        measure_one_by_one(set, choice, query, args, family, overwrites);
    }
  }

 private:
  void measure_one_by_one(Set &set, const ChoicePtr &choice, const Query &query, sxt_head *args, int family,
                          bool overwrites) {
    try {
      Prepared prepared(context_, choice, nullptr, nullptr);
      const std::unique_ptr<Session> session = prepared.open();
      std::vector<double> seconds;
      for (int run = 0; run <= (choice->run_s < short_s ? timed_short_runs : timed_long_runs); ++run) {
        if (overwrites) set.restore();
        const double start = seconds_now();
        session->run(args);
        set.wait();
        if (run > 0) seconds.push_back(seconds_now() - start);
      }
      // As among other runs, when the caller need not wait for each.
      const double alone_s = summarize(seconds).seconds,
                   within_s = alone_s - set.around_s() + context_.machine().launch_s;
      sampler_.add_run(choice->kernel->table, *query.get(), choice->candidate, std::max(0.3 * alone_s, within_s),
                       family);
    } catch (const Error &) {  // it declined, or memory is short
    }
  }

  Context &context_;
  const CalibrationClock &clock_;
  Sampler &sampler_;
  double until_, sample_s_;
};

// Definite sets, indefinite ones, and what is done beside factoring and solving, one after the other.
class Stages {
 public:
  Stages(Context &context, const CalibrationSettings &settings, const CalibrationClock &clock, Sampler &sampler,
         sxt_value_type type)
      : context_(context), settings_(settings), clock_(clock), sampler_(sampler), type_(type) {}

  void run(double until) {
    const bool all = settings_.kind.empty(), sets = all || settings_.kind == SXT_KIND_HERMITIAN;
    const double start = clock_.elapsed(), left = until - start;
    if (sets) {
      each_point(definite_points(), start + (all ? 0.5 : 0.6) * left, 0, &Stages::definite);
      each_point(indefinite_points, start + (all ? 0.85 : 1) * left, 2, &Stages::indefinite);
    }
    if (all || settings_.kind == SXT_KIND_HERMITIAN_TOEPLITZ)
      each_point(other_points, all ? start + 0.95 * left : until, 1, &Stages::toeplitz);
    if (all || settings_.kind == SXT_KIND_HERMITIAN_STEP) each_point(other_points, until, 0, &Stages::steps);
  }

 private:
  using Measure = void (Stages::*)(TimedStage &, Set &, int family) const;
  void each_point(std::span<const Point> on_a_device, double until, int numbers, Measure measure) const {
    const double most_bytes = context_.device().on_host()
                                  ? settings_.most_bytes / 2
                                  : set_memory_share * static_cast<double>(context_.machine().memory_bytes);
    const std::vector<Point> points = points_of(context_, type_, most_bytes, on_a_device);
    TimedStage stage(context_, clock_, sampler_, until, points.size());
    for (std::size_t i = 0; i < points.size() && !stage.over(); ++i) {
      clock_.report(text("Hermitian systems of ", value_name(type_), ", ", points[i].batch, " of order ", points[i].n));
      try {
        Set set(context_, points[i], type_, numbers);
        (this->*measure)(stage, set, static_cast<int>(i));
      } catch (const Error &problem) {  // too large for the memory that is left
        if (!out_of_memory(problem)) throw;
      }
    }
  }
  static void sets(TimedStage &stage, Set &set, int family, std::int32_t phase, std::int32_t definiteness,
                   bool repeat) {
    sxt_hermitian_args args = set.args(SXT_KIND_HERMITIAN, phase, definiteness);
    stage.measure(set, set.query(SXT_KIND_HERMITIAN, phase, definiteness), &args.h, family,
                  phase != SXT_HERMITIAN_SOLVE, repeat);
  }
  void definite(TimedStage &stage, Set &set, int family) const {
    for (const std::int32_t phase : {SXT_HERMITIAN_FACTOR, SXT_HERMITIAN_FACTOR_SOLVE, SXT_HERMITIAN_SOLVE})
      sets(stage, set, family, phase, SXT_HERMITIAN_DEFINITE, true);
  }
  // The last factors stand there for the solve.
  void indefinite(TimedStage &stage, Set &set, int family) const {
    for (const std::int32_t phase : {SXT_HERMITIAN_FACTOR, SXT_HERMITIAN_FACTOR_SOLVE, SXT_HERMITIAN_SOLVE})
      sets(stage, set, family, phase, SXT_HERMITIAN_INDEFINITE, phase == SXT_HERMITIAN_SOLVE);
  }
  void toeplitz(TimedStage &stage, Set &set, int family) const {
    sxt_hermitian_args args = set.args(SXT_KIND_HERMITIAN_TOEPLITZ, SXT_HERMITIAN_FACTOR_SOLVE, SXT_HERMITIAN_DEFINITE);
    stage.measure(set, set.query(SXT_KIND_HERMITIAN_TOEPLITZ, SXT_HERMITIAN_FACTOR_SOLVE, SXT_HERMITIAN_DEFINITE),
                  &args.h, family, true, true);
  }
  void steps(TimedStage &stage, Set &set, int family) const {
    sxt_hermitian_step_args args = set.residual();
    stage.measure(set, set.step_query(), &args.h, family, false, true);
  }

  Context &context_;
  const CalibrationSettings &settings_;
  const CalibrationClock &clock_;
  Sampler &sampler_;
  sxt_value_type type_;
};

}  // namespace

bool is_hermitian_kind(std::string_view kind) {
  return kind == SXT_KIND_HERMITIAN || kind == SXT_KIND_HERMITIAN_STEP || kind == SXT_KIND_HERMITIAN_TOEPLITZ;
}

void calibrate_hermitian(Context &context, const CalibrationSettings &settings, const CalibrationClock &clock,
                         Sampler &sampler, sxt_value_type type, double until) {
  Stages(context, settings, clock, sampler, type).run(until);
}

}  // namespace sextant
