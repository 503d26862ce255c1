// SPDX-License-Identifier: BSD-3-Clause
// Samples of the kernels for sets of Hermitian systems: orders and numbers of systems far apart, every phase and type.
//
// Runs are repeated on the same memory, so the systems are such that a run leaves another system of the same kind: I +
// E with a small E has a factor I + F with a small F, which read as a matrix has one again, and solving with it changes
// right-hand sides little. Indefinite systems are restored before each run, and timed one run at a time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/types.hpp"
#include "core/context/context.hpp"
#include "core/dispatch/select.hpp"
#include "core/model/calibrate_hermitian.hpp"
#include "core/model/sampler.hpp"
#include "core/model/timing.hpp"
#include "sextant/kinds/hermitian_step.h"
#include "sextant/kinds/hermitian_toeplitz.h"

namespace sextant {

namespace {

constexpr std::int64_t orders_on_the_host[] = {4, 8, 16, 32, 64, 100, 160, 256, 400};
constexpr std::int64_t orders_on_a_device[] = {16, 40, 64, 100, 128, 176, 256, 350, 512, 700, 1024, 1500};
constexpr std::int64_t batches_on_a_device[] = {1000, 64};
constexpr double flops_on_the_host = 4e7, memory_share = 0.3;  // of a device's memory, for one array of matrices
constexpr double hopeless = 4;      // times the best prediction: such candidates are measured at every fourth point
constexpr double short_s = 150e-6;  // runs that last longer are timed one by one
constexpr double longest_s = 0.25, longest_of_others_s = 0.03;
constexpr int timed_runs = 3;

struct Point {
  std::int64_t n, batch;
};

// In an order that has seen all sizes wherever the time ends.
std::vector<Point> points_of(const Context &context, sxt_value_type type, double most_bytes) {
  std::vector<Point> points;
  const auto fits = [&](std::int64_t n, std::int64_t batch) {
    return static_cast<double>(n * n * batch * value_bytes(type)) <= most_bytes;
  };
  if (context.device().on_host()) {
    for (const std::int64_t n : orders_on_the_host) {
      const double each = std::pow(static_cast<double>(n), 3) / 3;
      const auto batch = std::clamp<std::int64_t>(static_cast<std::int64_t>(flops_on_the_host / each), 4, 4000);
      if (fits(n, batch)) points.push_back({n, batch});
    }
  } else {
    for (const std::int64_t batch : batches_on_a_device)
      for (const std::int64_t n : orders_on_a_device)
        if (fits(n, batch)) points.push_back({n, batch});
  }
  std::vector<Point> mixed;
  const std::size_t count = points.size();
  std::size_t stride = count % 5 ? 5 : 7;  // prime to the number of points
  for (std::size_t i = 0; i < count; ++i) mixed.push_back(points[i * stride % count]);
  return mixed;
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
    const double small = kind == 2 ? 1 : 0.01 / static_cast<double>(n);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = j; i < n; ++i) {
        const double off = kind == 1 ? small * static_cast<double>(1 + (i - j) % 3) : small * random();
        a[i + j * n] = a[j + i * n] = static_cast<T>(i > j ? off : kind == 2 ? small * random() : 1.0);
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
        matrices_(context.device(), bytes(point.n * point.batch)),
        rhs_(context.device(), bytes_of(point.n * point.batch)),
        other_rhs_(context.device(), bytes_of(point.n * point.batch)),
        info_(context.device(), static_cast<std::uint64_t>(point.batch) * sizeof(std::int32_t)),
        pivots_(context.device(), static_cast<std::uint64_t>(point.batch * point.n) * sizeof(std::int32_t)),
        numbers_(context.device(), static_cast<std::uint64_t>(point.batch) * sizeof(double)) {
    const std::vector<double> numbers = numbers_of(point.n, type, kind);
    context.device().copy(one_.data(), numbers.data(), one_.bytes());
    const std::vector<char> zeros(std::max({rhs_.bytes(), info_.bytes(), pivots_.bytes()}));
    for (DeviceBuffer *each : {&rhs_, &other_rhs_, &info_, &pivots_})
      context.device().copy(each->data(), zeros.data(), each->bytes());
    copy_ =
        std::make_unique<Prepared>(context, Selector(context, nullptr).select(step_query(), "copy"), nullptr, nullptr);
    session_ = copy_->open();
    restore();
  }

  void restore() {
    sxt_hermitian_step_args args = step_args(SXT_HERMITIAN_COPY);
    args.a.data = one_.data(), args.a.ld = args.c.ld = point_.n;
    args.c.data = matrices_.data(), args.c.stride = point_.n * point_.n;
    session_->run(&args.h);
    wait();
  }
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
  DeviceBuffer one_, matrices_, rhs_, other_rhs_, info_, pivots_, numbers_;
  std::unique_ptr<Prepared> copy_;
  std::unique_ptr<Session> session_;
};

class Stage {
 public:
  Stage(Context &context, const CalibrationClock &clock, Sampler &sampler, double until, double sample_s)
      : context_(context), clock_(clock), sampler_(sampler), until_(until), sample_s_(sample_s) {}

  bool over() const { return clock_.elapsed() > until_; }

  // Candidates that are not far behind by what is predicted; repeat: a run may follow a run.
  void measure(Set &set, const Query &query, sxt_head *args, int family, bool repeat) {
    std::vector<ChoicePtr> choices;
    try {
      choices = Selector(context_, nullptr).every(query, query.kind());
    } catch (const Error &) {  // nobody does this here
    }
    for (const ChoicePtr &choice : choices) {
      const double most_s = choice->kernel->has(SXT_KERNEL_OPPONENT) ? longest_of_others_s : longest_s;
      if (!Sampler::wanted(*choice->kernel) || over() || choice->run_s > most_s) continue;
      if (choice->run_s > hopeless * choices[0]->run_s && family % 4 != 0) continue;
      if (4 * choice->run_s > 0.3 * (until_ - clock_.elapsed())) continue;
      sxt_head *const heads[] = {args};
      if (repeat && choice->run_s < short_s)
        sampler_.measure(choice, nullptr, heads, family, sample_s_);
      else
        measure_one_by_one(set, choice, query, args, family, repeat);
    }
  }

 private:
  void measure_one_by_one(Set &set, const ChoicePtr &choice, const Query &query, sxt_head *args, int family,
                          bool repeat) {
    try {
      Prepared prepared(context_, choice, nullptr, nullptr);
      const std::unique_ptr<Session> session = prepared.open();
      std::vector<double> seconds;
      for (int run = 0; run <= timed_runs; ++run) {
        if (!repeat) set.restore();
        const double start = seconds_now();
        session->run(args);
        set.wait();
        if (run > 0) seconds.push_back(seconds_now() - start);
      }
      sampler_.add_run(choice->kernel->table, *query.get(), choice->candidate, summarize(seconds).seconds, family);
    } catch (const Error &) {  // it declined, or memory is short
    }
  }

  Context &context_;
  const CalibrationClock &clock_;
  Sampler &sampler_;
  double until_, sample_s_;
};

}  // namespace

bool is_hermitian_kind(std::string_view kind) {
  return kind == SXT_KIND_HERMITIAN || kind == SXT_KIND_HERMITIAN_STEP || kind == SXT_KIND_HERMITIAN_TOEPLITZ;
}

void calibrate_hermitian(Context &context, const CalibrationSettings &settings, const CalibrationClock &clock,
                         Sampler &sampler, sxt_value_type type, double until) {
  const bool all = settings.kind.empty(), on_host = context.device().on_host();
  const double most_bytes =
      on_host ? settings.most_bytes / 2 : memory_share * static_cast<double>(context.machine().memory_bytes);
  const std::vector<Point> points = points_of(context, type, most_bytes);
  const double each_s =
      (until - clock.elapsed()) / (60.0 * static_cast<double>(std::max<std::size_t>(1, points.size())));
  Stage stage(context, clock, sampler, until, std::clamp(each_s, 1e-4, 2e-2));
  for (std::size_t i = 0; i < points.size() && !stage.over(); ++i) {
    const int family = static_cast<int>(i);
    clock.report(text("Hermitian systems of ", value_name(type), ", ", points[i].batch, " of order ", points[i].n));
    try {
      if (all || settings.kind == SXT_KIND_HERMITIAN) {
        Set definite(context, points[i], type, 0);
        for (const std::int32_t phase : {SXT_HERMITIAN_FACTOR, SXT_HERMITIAN_FACTOR_SOLVE, SXT_HERMITIAN_SOLVE}) {
          sxt_hermitian_args args = definite.args(SXT_KIND_HERMITIAN, phase, SXT_HERMITIAN_DEFINITE);
          stage.measure(definite, definite.query(SXT_KIND_HERMITIAN, phase, SXT_HERMITIAN_DEFINITE), &args.h, family,
                        true);
        }
        Set indefinite(context, points[i], type, 2);
        for (const std::int32_t phase : {SXT_HERMITIAN_FACTOR, SXT_HERMITIAN_FACTOR_SOLVE}) {
          sxt_hermitian_args args = indefinite.args(SXT_KIND_HERMITIAN, phase, SXT_HERMITIAN_INDEFINITE);
          stage.measure(indefinite, indefinite.query(SXT_KIND_HERMITIAN, phase, SXT_HERMITIAN_INDEFINITE), &args.h,
                        family, false);
        }
        // The last factors stand there.
        sxt_hermitian_args args = indefinite.args(SXT_KIND_HERMITIAN, SXT_HERMITIAN_SOLVE, SXT_HERMITIAN_INDEFINITE);
        stage.measure(indefinite, indefinite.query(SXT_KIND_HERMITIAN, SXT_HERMITIAN_SOLVE, SXT_HERMITIAN_INDEFINITE),
                      &args.h, family, true);
      }
      if (all || settings.kind == SXT_KIND_HERMITIAN_TOEPLITZ) {
        Set toeplitz(context, points[i], type, 1);
        sxt_hermitian_args args =
            toeplitz.args(SXT_KIND_HERMITIAN_TOEPLITZ, SXT_HERMITIAN_FACTOR_SOLVE, SXT_HERMITIAN_DEFINITE);
        stage.measure(toeplitz,
                      toeplitz.query(SXT_KIND_HERMITIAN_TOEPLITZ, SXT_HERMITIAN_FACTOR_SOLVE, SXT_HERMITIAN_DEFINITE),
                      &args.h, family, true);
      }
      if (all || settings.kind == SXT_KIND_HERMITIAN_STEP) {
        Set set(context, points[i], type, 0);
        sxt_hermitian_step_args args = set.residual();
        stage.measure(set, set.step_query(), &args.h, family, true);
      }
    } catch (const Error &problem) {  // too large for the memory that is left
      if (problem.status() != SXT_E_MEMORY) throw;
    }
  }
}

}  // namespace sextant
