// SPDX-License-Identifier: BSD-3-Clause
// Suite reduction on a GPU: the library's choice against CUB and cuBLAS at every length, hot and cold; with --peers the
// published variants step by step, and the bandwidth curve.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bench/device/device.hpp"
#include "plot/svg.hpp"
#include "report/table.hpp"
#include "report/write_file.hpp"
#include "sextant/plugin/kinds/reduction.h"

namespace tool {
namespace {

struct Reduction {
  std::int32_t number;
  const char *name;
  int vectors;
  double result;  // of one element of 1/2 (and 1/4); nrm2: squared
};
constexpr Reduction benched_reductions[] = {{SXT_REDUCTION_SUM, "sum", 1, 0.5},
                                            {SXT_REDUCTION_DOT, "dot", 2, 0.125},
                                            {SXT_REDUCTION_NRM2, "nrm2", 1, 0.25},
                                            {SXT_REDUCTION_ASUM, "asum", 1, 0.5}};

// What was published as one improvement after the other, then today's.
constexpr const char *step_names[] = {
    "reduction.interleaved.cuda", "reduction.strided.cuda",  "reduction.sequential.cuda",
    "reduction.unrolled.cuda",    "reduction.overload.cuda", "reduction.warp-shuffle.cuda",
    "reduction.single-pass.cuda", "reduction.packets.cuda",  own_choice,
    "reduction.cub.cuda"};
constexpr std::int64_t step_length = std::int64_t{1} << 23;

// One operation on one type and length, with all its operands on the device.
class Problem {
 public:
  Problem(sxt_context *context, const Reduction &operation, sxt_value_type type, std::int64_t n)
      : context_(context), operation_(operation), type_(type), operands_(context, type, n, operation.vectors) {
    sxt_vector *result = nullptr;
    check(sxt_vector_create(context, 8, type, &result), context);
    result_ = Vector(result);
    query_.q.h = {sizeof query_, SXT_KIND_REDUCTION};
    query_.q.expected_runs = usual_runs;
    query_.q.value_type = type;
    query_.n = n;
    query_.operation = operation.number;
    args_.resize(static_cast<std::size_t>(operands_.sets()));
    for (int set = 0; set < operands_.sets(); ++set) {
      sxt_reduction_args &args = args_[static_cast<std::size_t>(set)];
      args.h = {sizeof args, SXT_KIND_REDUCTION};
      args.n = n;
      args.operation = operation.number;
      args.result_on_device = 1;
      args.x = operands_.at(0, set);
      args.y = operation.vectors == 2 ? operands_.at(1, set) : nullptr;
      args.result = sxt_vector_data(result);
    }
  }

  std::vector<DeviceContender> measure(const std::vector<std::string> &kernels, int rounds) {
    std::vector<DeviceContender> contenders = select_contenders(context_, kernels, query_.q);
    for (const DeviceContender &contender : contenders) verify(contender);
    std::vector<sxt_head *> heads;
    for (sxt_reduction_args &args : args_) heads.push_back(&args.h);
    time_contenders(context_, contenders, heads, rounds);
    return contenders;
  }
  double bytes() const { return static_cast<double>(query_.n * bytes_of(type_) * operation_.vectors); }

 private:
  void verify(const DeviceContender &contender) {
    const double nothing = NAN;
    const auto single = static_cast<float>(nothing);
    check(sxt_fill(type_ == SXT_F32 ? static_cast<const void *>(&single) : &nothing, result_.get()), context_);
    check(sxt_kernel_run(contender.selection.get(), &args_[0].h), context_);
    sxt_vector *first = nullptr;
    check(sxt_vector_wrap(context_, 1, type_, SXT_SPACE_DEVICE, sxt_vector_data(result_.get()), &first), context_);
    const Vector owner(first);
    float narrow = 0;
    double wide = 0;
    check(sxt_sum(first, type_ == SXT_F32 ? static_cast<void *>(&narrow) : &wide), context_);
    const double got = type_ == SXT_F32 ? narrow : wide, sum = operation_.result * static_cast<double>(query_.n);
    const double want = operation_.number == SXT_REDUCTION_NRM2 ? std::sqrt(sum) : sum;
    if (!(std::abs(got - want) <= 1e-5 * want))
      fail(exit_not_solved, "{} of {} elements by {} is {}, not {}", operation_.name, query_.n, contender.chosen, got,
           want);
  }

  sxt_context *context_;
  const Reduction &operation_;
  sxt_value_type type_;
  DeviceOperands operands_;
  Vector result_;
  sxt_reduction_query query_{};
  std::vector<sxt_reduction_args> args_;
};

// Of the vendor baselines but one; NULL: there is none.
const DeviceContender *fastest_baseline(const std::vector<DeviceContender> &contenders, const DeviceContender *but) {
  const DeviceContender *best = nullptr;
  for (const DeviceContender &each : contenders)
    if (each.baseline && &each != but && each.hot > 0 && (!best || each.hot < best->hot)) best = &each;
  return best;
}

// The fastest vendor baseline's time over the choice's; 0: no baseline has it.
double against_best(const std::vector<DeviceContender> &contenders, double DeviceContender::*time) {
  double best = INFINITY, choice = 0;
  for (const DeviceContender &contender : contenders) {
    if (contender.baseline) best = std::min(best, contender.*time);
    if (contender.name == own_choice) choice = contender.*time;
  }
  return std::isfinite(best) && choice > 0 ? best / choice : 0;
}

std::string time_of(const std::vector<DeviceContender> &contenders, const std::string &name,
                    double DeviceContender::*time) {
  for (const DeviceContender &contender : contenders) {
    if (contender.name == name) return microseconds(contender.*time);
  }
  return "-";
}

std::string short_name(const std::string &kernel) {
  const std::size_t start = kernel.find('.') + 1, end = kernel.rfind('.');
  return kernel.substr(start, end - start);
}

std::string ratio(double value) { return value > 0 ? fmt::format("{:.3f}", value) : "-"; }

class Suite {
 public:
  explicit Suite(const BenchOptions &options)
      : options_(options), context_(open_context(options.context)), rounds_(device_rounds(options, 3)) {
    check_outputs({{"--svg", options.svg}, {"--markdown", options.markdown}});
    const bool peers = !options.peers.names.empty();
    for (const std::string &kernel : kernels_on(SXT_KIND_REDUCTION, options.context.device)) {
      if (!is_baseline(kernel))
        own_.push_back(kernel);
      else if (peers)
        compared_.push_back(kernel);
    }
    compared_.insert(compared_.begin(), own_choice);
  }

  int run() {
    for (const sxt_value_type type : device_types(options_)) {
      for (const Reduction &operation : benched_reductions) {
        if (wanted(options_.operations, operation.name)) lengths(operation, type);
      }
    }
    if (!options_.peers.names.empty()) steps();
    if (!options_.svg.empty()) draw();
    return finish_device(options_, context_.get(), sheets_, rows_);
  }

 private:
  // Choice and vendor baselines at every length; with --verbose every kernel.
  void lengths(const Reduction &operation, sxt_value_type type) {
    Sheet sheet;
    sheet.title = fmt::format("{} of {}, us (a run)", operation.name, name_of(type));
    sheet.titles = {"n",   "kernel",  "cold",       "CUB cold",  "cuBLAS cold", "ratio cold",
                    "hot", "CUB hot", "cuBLAS hot", "ratio hot", "GB/s cold",   "predicted"};
    std::vector<std::string> kernels = compared_;
    if (options_.verbose) kernels.insert(kernels.end(), own_.begin(), own_.end());
    for (const std::int64_t n : device_lengths(options_)) {
      Problem problem(context_.get(), operation, type, n);
      const std::vector<DeviceContender> all = problem.measure(kernels, rounds_);
      keep(operation, type, n, problem.bytes(), all);
      const DeviceContender &choice = all.front();
      const auto cold = &DeviceContender::cold, hot = &DeviceContender::hot;
      const char *cub = "reduction.cub.cuda", *cublas = "reduction.cublas.cuda";
      sheet.lines.push_back({length_text(n), short_name(choice.chosen), microseconds(choice.cold),
                             time_of(all, cub, cold), time_of(all, cublas, cold), ratio(against_best(all, cold)),
                             microseconds(choice.hot), time_of(all, cub, hot), time_of(all, cublas, hot),
                             ratio(against_best(all, hot)), fmt::format("{:.0f}", problem.bytes() / choice.cold * 1e-9),
                             microseconds(choice.predicted_seconds)});
    }
    show(options_, sheet);
    sheets_.push_back(std::move(sheet));
  }

  void keep(const Reduction &operation, sxt_value_type type, std::int64_t n, double bytes,
            const std::vector<DeviceContender> &all) {
    for (const DeviceContender &each : all) {
      const DeviceContender *const peer = fastest_baseline(all, &each);
      Json row = comparison("reduction", fmt::format("{} {} n={}", operation.name, name_of(type), n), each.name,
                            each.hot, peer ? peer->name : "", peer ? peer->hot : 0);
      row.update({{"operation", operation.name},
                  {"type", name_of(type)},
                  {"n", n},
                  {"chosen", each.chosen},
                  {"baseline", each.baseline},
                  {"cold_seconds", each.cold},
                  {"hot_seconds", each.hot},
                  {"noise", each.noise},
                  {"bytes", bytes},
                  {"predicted_seconds", each.predicted_seconds}});
      rows_.push_back(std::move(row));
    }
  }

  // Seconds of the library's sum on so many CPU threads.
  double on_processor(int threads) const {
    ContextOptions host;
    host.device = "cpu";
    host.threads = threads;
    host.plugin_paths = options_.context.plugin_paths;
    const Context context = open_context(host);
    std::vector<float> x(static_cast<std::size_t>(step_length), 0.5F);
    float result = 0;
    sxt_reduction_query query{};
    query.q.h = {sizeof query, SXT_KIND_REDUCTION};
    query.q.expected_runs = usual_runs;
    query.q.value_type = SXT_F32;
    query.n = step_length;
    query.operation = SXT_REDUCTION_SUM;
    sxt_reduction_args args{};
    args.h = {sizeof args, SXT_KIND_REDUCTION};
    args.n = step_length;
    args.operation = SXT_REDUCTION_SUM;
    args.x = x.data();
    args.result = &result;
    std::string reason;
    const Selection selection = select_kernel(context.get(), own_choice, query.q, nullptr, reason);
    if (!selection) fail(exit_not_solved, "no sum on the CPU: {}", reason);
    sxt_head *head = &args.h;
    double seconds = 0;
    check(sxt_selection_time(selection.get(), &head, 1, 0.2, &seconds, nullptr), context.get());
    return seconds;
  }

  void steps() {
    Problem problem(context_.get(), benched_reductions[0], SXT_F32, step_length);
    steps_ = problem.measure({std::begin(step_names), std::end(step_names)}, rounds_);
    one_thread_ = on_processor(1);
    all_threads_ = on_processor(0);
    Sheet sheet;
    sheet.title = fmt::format("sum of {} f32, cold, step by step; CPU: {} on one thread, {} on all",
                              length_text(step_length), seconds_text(one_thread_), seconds_text(all_threads_));
    sheet.titles = {
        "variant", "us", "gain over the one before", "over the first", "over one CPU thread", "over all CPU threads",
        "GB/s"};
    double before = 0;
    for (const DeviceContender &step : steps_) {
      const std::string name = step.name == own_choice ? "choice: " + short_name(step.chosen) : short_name(step.name);
      sheet.lines.push_back({name, microseconds(step.cold), before > 0 ? ratio(before / step.cold) : "-",
                             ratio(steps_.front().cold / step.cold), fmt::format("{:.1f}", one_thread_ / step.cold),
                             fmt::format("{:.1f}", all_threads_ / step.cold),
                             fmt::format("{:.0f}", problem.bytes() / step.cold * 1e-9)});
      before = step.cold;
    }
    keep(benched_reductions[0], SXT_F32, step_length, problem.bytes(), steps_);
    show(options_, sheet);
    sheets_.push_back(std::move(sheet));
  }

  // GB/s over n for the first operation and type, cold, and beside it the same hot: one document each.
  void draw() const {
    sextant::Plot plot;
    plot.title = "reduction: bandwidth over n";
    plot.x = {"n", true};
    plot.y = {"GB/s", true};
    const Json &first = rows_.front();
    for (const std::string &kernel : compared_) {
      for (const char *temperature : {"cold", "hot"}) {
        sextant::PlotSeries series;
        series.name = fmt::format("{} {}", kernel == own_choice ? "Sextant" : short_name(kernel), temperature);
        series.marks = true;
        for (const Json &row : rows_) {
          if (row["kernel"] != kernel || row["operation"] != first["operation"] || row["type"] != first["type"])
            continue;
          const double seconds = row[fmt::format("{}_seconds", temperature)].get<double>();
          series.points.emplace_back(row["n"].get<double>(), row["bytes"].get<double>() / seconds * 1e-9);
        }
        std::sort(series.points.begin(), series.points.end());
        if (!series.points.empty()) plot.series.push_back(std::move(series));
      }
    }
    write_text(options_.svg, sextant::to_svg(plot));
    if (steps_.empty()) return;
    sextant::Plot table;
    table.title = "sum of 2^23 f32: time of each step";
    table.x = {"step", false};
    table.y = {"us", true};
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      sextant::PlotSeries series;
      series.name = fmt::format("{} {}", i + 1, short_name(steps_[i].chosen));
      series.line = false;
      series.marks = true;
      series.points.emplace_back(static_cast<double>(i + 1), steps_[i].cold * 1e6);
      table.series.push_back(std::move(series));
    }
    const std::size_t dot = options_.svg.rfind(".svg");
    write_text(options_.svg.substr(0, dot) + "-steps.svg", sextant::to_svg(table));
  }

  const BenchOptions &options_;
  Context context_;
  int rounds_;
  std::vector<std::string> own_, compared_;
  std::vector<Sheet> sheets_;
  std::vector<DeviceContender> steps_;
  double one_thread_ = 0, all_threads_ = 0;
  Json rows_ = Json::array();
};

}  // namespace

int bench_device_reduction(const BenchOptions &options) {
  std::vector<std::string> known;
  for (const Reduction &operation : benched_reductions) known.emplace_back(operation.name);
  check_operations(options, known);
  return Suite(options).run();
}

}  // namespace tool
