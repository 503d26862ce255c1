// SPDX-License-Identifier: BSD-3-Clause
// gpu_regret [COUNT [SECONDS [PROFILE]]]: what the decision trees give away. For sum, dot and axpy at COUNT random n each
// every candidate of every kernel is measured; the tree's pick, with the models' analytic numbers and after a calibration
// of SECONDS (kept in PROFILE), is held against the fastest. Prints the bandwidth of a plain copy on the device first.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "core/context/context.hpp"
#include "core/dispatch/prepared.hpp"
#include "core/dispatch/select.hpp"
#include "core/dispatch/tree.hpp"
#include "core/model/session_timing.hpp"
#include "sextant/kinds/reduction.h"
#include "sextant/kinds/vector.h"

namespace {

using namespace sextant;

constexpr std::int64_t longest = std::int64_t{1} << 26;

struct Measured {
  std::string kernel;
  std::int64_t launch[4];
  double seconds;
};
struct Point {
  std::int64_t n;
  std::vector<Measured> all;
};
struct Subject {
  TreeSubject tree;
  std::string name;
  std::vector<Point> points;
};

struct Operands {
  explicit Operands(Device &device)
      : x(device, longest * 8), y(device, longest * 8), result(device, 256) {}
  DeviceBuffer x, y, result;
};

union Args {
  sxt_head head;
  sxt_reduction_args reduction;
  sxt_vector_args vector;
};

Args args_for(const TreeSubject &subject, std::int64_t n, const Operands &operands) {
  static const double tiny = 1e-9;
  static const float tiny_single = 1e-9F;
  Args args;
  std::memset(&args, 0, sizeof args);
  if (!std::strcmp(subject.kind, SXT_KIND_REDUCTION)) {
    args.reduction = {};
    args.reduction.h = {sizeof args.reduction, SXT_KIND_REDUCTION};
    args.reduction.n = n;
    args.reduction.operation = subject.operation;
    args.reduction.result_on_device = 1;
    args.reduction.x = operands.x.data();
    args.reduction.y = operands.y.data();
    args.reduction.result = operands.result.data();
  } else {
    args.vector = {};
    args.vector.h = {sizeof args.vector, SXT_KIND_VECTOR};
    args.vector.n = n;
    args.vector.operation = subject.operation;
    args.vector.alpha = {subject.type == SXT_F32 ? static_cast<const void *>(&tiny_single) : &tiny, 0, 0};
    args.vector.x = operands.x.data();
    args.vector.y = operands.y.data();
  }
  return args;
}

double measure(Context &context, const ChoicePtr &choice, sxt_head *args, double predicted_s, double budget_s) {
  Prepared prepared(context, choice, nullptr, nullptr);
  const std::unique_ptr<Session> session = prepared.open();
  return time_session(context, *session, {&args, 1}, predicted_s, budget_s).seconds;
}

// References, other libraries, and the published steps, which are there to lose.
bool left_out(const ChoicePtr &choice) {
  const std::string name = choice->kernel->name();
  for (const char *step : {"interleaved", "strided", "sequential", "unrolled", "overload", "compensated"})
    if (name.find(step) != std::string::npos) return true;
  return choice->kernel->has(SXT_KERNEL_REFERENCE) || choice->kernel->has(SXT_KERNEL_OPPONENT);
}

// Everything once, quickly; what comes near the fastest again, with care.
Point measure_all(Context &context, const Subject &subject, std::int64_t n, const Operands &operands) {
  Point point{n, {}};
  Args args = args_for(subject.tree, n, operands);
  std::vector<ChoicePtr> choices = Selector(context, nullptr).every(subject.tree.at(n), subject.tree.kind);
  std::erase_if(choices, left_out);
  double best = INFINITY;
  for (const ChoicePtr &choice : choices) {
    Measured each{choice->kernel->name(), {}, measure(context, choice, &args.head, std::max(choice->run_s, 2e-6), 2e-4)};
    std::copy_n(choice->candidate.launch, 4, each.launch);
    best = std::min(best, each.seconds);
    point.all.push_back(each);
  }
  for (std::size_t i = 0; i < choices.size(); ++i)
    if (point.all[i].seconds < 1.05 * best)
      point.all[i].seconds = measure(context, choices[i], &args.head, point.all[i].seconds, 1e-3);
  return point;
}

// The launch of the tree's pick at n, by the kernel's own list.
bool same_launch(const Measured &measured, const std::int64_t *launch) { return std::equal(launch, launch + 4, measured.launch); }

void report(Context &context, const Subject &subject, const char *when) {
  const double start = seconds_now();
  const DecisionTree tree = DecisionTree::build(context, subject.tree);
  std::printf("tree of %zu leaves built in %.2f s\n", tree.leaves().size(), seconds_now() - start);
  double log_sum = 0, worst = 0, tied = 0;
  std::int64_t worst_n = 0, missing = 0;
  std::string worst_text;
  std::map<std::string, int> picks, fastest;
  for (const Point &point : subject.points) {
    const TreeLeaf &leaf = tree.leaves()[tree.find(point.n)];
    const auto best = std::min_element(point.all.begin(), point.all.end(),
                                       [](const Measured &a, const Measured &b) { return a.seconds < b.seconds; });
    const std::int64_t *launch = nullptr;
    const std::vector<Estimate> estimates = Selector(context, nullptr).estimates(subject.tree.at(point.n));
    for (const Estimate &each : estimates)
      if (each.kernel->name() == leaf.kernel && each.candidate == leaf.candidate) launch = each.launch;
    const Measured *picked = nullptr;
    for (const Measured &each : point.all)
      if (launch && each.kernel == leaf.kernel && same_launch(each, launch)) picked = &each;
    ++picks[leaf.kernel];
    ++fastest[best->kernel];
    if (!picked) {
      ++missing;
      continue;
    }
    const double regret = picked->seconds / best->seconds;
    log_sum += std::log(regret);
    tied += regret < 1.01;
    if (regret > worst) {
      worst = regret;
      worst_n = point.n;
      char text[300];
      std::snprintf(text, sizeof text, "%s %lldx%lld %.2f us, fastest %s %lldx%lld %.2f us", leaf.kernel.c_str(),
                    (long long)picked->launch[0], (long long)picked->launch[1], 1e6 * picked->seconds,
                    best->kernel.c_str(), (long long)best->launch[0], (long long)best->launch[1], 1e6 * best->seconds);
      worst_text = text;
    }
  }
  const auto judged = static_cast<double>(subject.points.size()) - static_cast<double>(missing);
  std::printf("%-10s %-10s points %3.0f geometric mean %.4f within 1 %% %3.0f %% worst %.3f at n = %lld (%s)\n", subject.name.c_str(), when,
              judged, std::exp(log_sum / judged), 100 * tied / judged, worst, (long long)worst_n, worst_text.c_str());
  std::fflush(stdout);
  if (missing) std::printf("    %lld picks were not among the measured candidates\n", (long long)missing);
  for (const auto &[kernel, count] : picks) std::printf("    picked %s %d times, fastest %d times\n", kernel.c_str(), count, fastest[kernel]);
  for (const auto &[kernel, count] : fastest)
    if (!picks.count(kernel)) std::printf("    never picked %s, fastest %d times\n", kernel.c_str(), count);
}

void print_copy_bandwidth(Device &device, const Operands &operands) {
  const sxt_device_ops &ops = device.ops();
  void *stream = device.take_stream(), *from = nullptr, *to = nullptr;
  ops.event_create(device.handle(), &from);
  ops.event_create(device.handle(), &to);
  std::vector<double> samples;
  for (int i = 0; i < 20; ++i) {
    double seconds = 0;
    ops.event_record(device.handle(), from, stream);
    ops.copy(device.handle(), stream, operands.y.data(), operands.x.data(), operands.x.bytes());
    ops.event_record(device.handle(), to, stream);
    ops.event_elapsed(device.handle(), from, to, &seconds);
    samples.push_back(seconds);
  }
  device.give_stream(stream);
  std::printf("copy of %llu bytes within the device: %.0f GB/s read and written\n", (unsigned long long)operands.x.bytes(),
              2e-9 * static_cast<double>(operands.x.bytes()) / summarize(samples).seconds);
}

void calibrate_kinds(sxt_context *context, double seconds, const char *profile) {
  for (const char *kind : {"sxt.reduction/1", "sxt.vector/1", "sxt.vector_group/1", "sxt.multidot/1"}) {
    sxt_calibrate_options options;
    sxt_calibrate_options_init(&options, sizeof options);
    options.kind = kind;
    options.seconds = seconds * (std::strcmp(kind, "sxt.reduction/1") ? 0.18 : 0.46);
    options.path = profile;
    options.model = [](void *, const sxt_model_info *info) {
      std::printf("    model %s type %d class %lld: %lld samples, median error %.1f %%, 90 %% below %.1f %%\n", info->kernel,
                  info->vector_type, (long long)info->model_class, (long long)info->samples, 100 * info->median_error,
                  100 * info->p90_error);
    };
    if (sxt_calibrate(context, &options, nullptr, 0, nullptr) != SXT_OK)
      std::printf("calibration of %s failed: %s\n", kind, sxt_last_error(context));
  }
}

}  // namespace

int main(int argc, char **argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 200;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 50;
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = "cuda";
  sxt_context *handle = nullptr;
  if (sxt_context_create(&options, &handle) != SXT_OK) return std::fprintf(stderr, "%s\n", sxt_last_error(nullptr)), 1;
  Context &context = *handle->context;
  std::vector<Subject> subjects;
  for (const char *operation : {"sum", "dot", "axpy"})
    for (const sxt_value_type type : {SXT_F32})
      subjects.push_back({tree_subject(operation, type), std::string(operation) + (type == SXT_F32 ? " f32" : " f64"), {}});
  {
    Operands operands(context.device());
    print_copy_bandwidth(context.device(), operands);
    std::mt19937_64 random(20240607);
    for (Subject &subject : subjects) {
      for (int i = 0; i < count; ++i) {
        const double turn = static_cast<double>(random() >> 11) * 0x1p-53;
        const auto n = static_cast<std::int64_t>(std::exp2(10 + 16 * turn));
        subject.points.push_back(measure_all(context, subject, n, operands));
      }
      std::printf("%s: %zu points measured\n", subject.name.c_str(), subject.points.size());
      std::fflush(stdout);
    }
  }
  calibrate_kinds(handle, seconds, argc > 3 ? argv[3] : nullptr);
  for (const Subject &subject : subjects) report(context, subject, "calibrated");
  context.use_profile(Profile{});
  for (const Subject &subject : subjects) report(context, subject, "analytic");
  sxt_context_destroy(handle);
  return 0;
}
