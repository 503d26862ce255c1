// SPDX-License-Identifier: BSD-3-Clause
// sextant bench hermitian: sets of Hermitian systems by the library's choice next to LAPACK, one system a thread (CPU),
// or to cuSOLVER and cuBLAS (GPU); on request by every kernel that applies. Sets are made where they are worked on, and
// made anew before each timed call, because a factorisation overwrites them. A call is timed from outside, waiting
// included.
#include "bench/hermitian/hermitian.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <random>

#include "input/hints.hpp"
#include "names/names.hpp"
#include "report/table.hpp"
#include "report/write_file.hpp"
#include "sextant/plugin/kinds/hermitian.h"

namespace tool {
namespace {

using Options = HermitianBenchOptions;
using Clock = std::chrono::steady_clock;

constexpr double seconds_on_device = 40;  // all of it, unless told otherwise
constexpr double hopeless = 10;  // times the best prediction: such kernels are measured only when they are named

class Suite {
 public:
  explicit Suite(const Options &options) : options_(options), context_(open_context(options.context)) {
    on_device_ = options.context.device != "cpu";
    seconds_ = options.seconds > 0 ? options.seconds : on_device_ ? seconds_on_device : 1e9;
    check_outputs({{"--svg", options_.svg}, {"--markdown", options_.markdown}});
    const std::vector<std::string> kernels = kernels_on(SXT_KIND_HERMITIAN, device());
    if (!options_.kernel.empty() && std::find(kernels.begin(), kernels.end(), options_.kernel) == kernels.end())
      fail(exit_usage, "--kernel: {}",
           sextant::unknown_name("kernel of kind " SXT_KIND_HERMITIAN " for this device", options_.kernel, kernels));
  }

  int run() {
    sheet_.title = fmt::format("{} systems, {} triangle, {} right-hand sides, times in ms", options_.type,
                               options_.triangle, options_.n_rhs);
    sheet_.titles = {"n", "systems", "what", "kernel", "time", "GF/s", "pred/meas", "other", "its time", "ratio"};
    if (options_.definiteness.size() > 1) sheet_.titles.push_back("x definite");
    if (options_.cpu_thread) sheet_.titles.push_back("x CPU thread");
    const std::vector<HermitianCase> all = cases();
    if (on_device_) call_s_ = seconds_of_a_call();
    start_ = Clock::now();
    for (std::size_t i = 0; i < all.size(); ++i) {
      HermitianCase problem = all[i];
      double rest = 0;
      for (std::size_t j = i; j < all.size(); ++j) rest += cost(all[j]);
      const double left = seconds_ - elapsed();
      if (options_.sweep && !fits(problem, left, rest)) {
        message(fmt::format("the time is over at order {}: larger ones are left out", problem.n));
        break;
      }
      const double start = elapsed();
      one_set(problem, left * cost(all[i]) / rest);
      seconds_a_cost_ = (elapsed() - start) / cost(problem);
    }
    show(options_, sheet_);
    return finish();
  }

 private:
  const char *device() const { return on_device_ ? "cuda" : "cpu"; }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // Relative cost of a case: in a sweep large orders take most of the time.
  double cost(const HermitianCase &problem) const {
    if (!options_.sweep) return 1;
    const double order = static_cast<double>(problem.n) + 200;  // small ones have a fixed cost
    return order * order * order * static_cast<double>(problem.batch);
  }
  // Takes fewer systems of large orders where the time of the last case predicts that the remaining ones would not fit
  // the time limit; whole rounds of a large GPU's multiprocessors. False: nothing more fits.
  bool fits(HermitianCase &problem, double left, double rest) const {
    constexpr std::int64_t round = 132, large = 512;
    constexpr double most_over = 0.25;
    if (on_device_ && options_.systems.empty() && problem.n > large && rest * seconds_a_cost_ > left)
      problem.batch =
          std::clamp(static_cast<std::int64_t>(static_cast<double>(problem.batch) * left / (rest * seconds_a_cost_)) /
                         round * round,
                     round, problem.batch);
    return left > -most_over * seconds_;
  }

  // ---- what is measured

  std::vector<std::int64_t> orders() const {
    if (!options_.sizes.empty()) return options_.sizes;
    std::vector<std::int64_t> all;
    for (std::int64_t n = 16; options_.sweep && n <= 2048; n += 16) all.push_back(n);
    if (options_.sweep) return all;
    if (on_device_) return {64, 128, 350, 700, 1700};
    return {8, 16, 32, 64, 128, 256};
  }
  // On the CPU as many as make some hundred megaflops; in a sweep a few rounds of a large GPU's 132 multiprocessors.
  std::vector<std::int64_t> systems(std::int64_t n) const {
    if (!options_.systems.empty()) return options_.systems;
    const double order = static_cast<double>(n);
    if (!on_device_) return {std::clamp<std::int64_t>(static_cast<std::int64_t>(1e9 / std::pow(order, 3)), 32, 4000)};
    return {!options_.sweep ? 1000 : n <= 256 ? 1056 : n <= 512 ? 528 : 264};
  }
  std::vector<HermitianCase> cases() const {
    std::vector<HermitianCase> all;
    for (const std::string &definiteness : options_.definiteness) {
      if (!options_.mixed.empty()) {
        add_mixed(definiteness, all);
        continue;
      }
      for (const std::int64_t n : orders())
        for (const std::int64_t batch : systems(n)) all.push_back({n, batch, {}, definiteness, ""});
    }
    return all;
  }
  // Orders at random between two, and a uniform set of as many flops.
  void add_mixed(const std::string &definiteness, std::vector<HermitianCase> &all) const {
    std::mt19937_64 random(7);
    HermitianCase mixed{options_.mixed[1], options_.systems.empty() ? 1000 : options_.systems[0], {}, definiteness, ""};
    std::uniform_int_distribution<std::int32_t> order(static_cast<std::int32_t>(options_.mixed[0]),
                                                      static_cast<std::int32_t>(options_.mixed[1]));
    double cubes = 0;
    for (std::int64_t s = 0; s < mixed.batch; ++s) {
      mixed.orders.push_back(order(random));
      cubes += std::pow(static_cast<double>(mixed.orders.back()), 3);
    }
    const auto alike = static_cast<std::int64_t>(std::lround(std::cbrt(cubes / static_cast<double>(mixed.batch))));
    all.push_back({alike, mixed.batch, {}, definiteness, ""});
    all.push_back(mixed);
  }

  // ---- contenders

  static double predicted(const sxt_hermitian_report &report, std::int32_t phase) {
    return phase == SXT_HERMITIAN_FACTOR  ? report.predicted_factor_s
           : phase == SXT_HERMITIAN_SOLVE ? report.predicted_solve_s
                                          : report.predicted_factor_solve_s;
  }
  sxt_hermitian_report report_of(const HermitianTimed &timed) const {
    sxt_hermitian_report report{};
    report.struct_size = sizeof report;
    check(sxt_hermitian_get_report(timed.handle.get(), &report), context_.get());
    return report;
  }
  // The choice, other libraries, and on request every kernel that is not predicted to be far behind.
  std::vector<HermitianTimed> contenders(const HermitianCase &problem) const {
    sxt_hermitian_options description = hermitian_description(options_, problem);
    std::vector<std::string> names = kernels_on(SXT_KIND_HERMITIAN, device());
    names.insert(names.begin(), own_choice);
    const bool all_wanted = options_.verbose || !options_.peers.names.empty();
    std::vector<HermitianTimed> all;
    for (const std::string &name : names) {
      HermitianTimed timed;
      timed.name = name;
      const bool named = name == options_.kernel;
      if (name.find(".reference.") != std::string::npos && !named) continue;
      if (name != own_choice && !named && (options_.predictions || (!timed.others() && !all_wanted))) continue;
      description.kernel = name == own_choice ? nullptr : name.c_str();
      description.shortcuts = name == own_choice ? shortcut_bits(options_.shortcuts) : 0;
      sxt_hermitian *made = nullptr;
      const sxt_status status = sxt_hermitian_create(context_.get(), &description, &made);
      if (status != SXT_OK && name == own_choice) check(status, context_.get());
      if (status != SXT_OK) {
        if (options_.verbose || named) message(fmt::format("{} is left out: {}", name, sxt_last_error(context_.get())));
        continue;
      }
      timed.handle.reset(made);
      timed.predicted = report_of(timed).predicted_factor_s;
      if (!named && !timed.others() && !all.empty() && timed.predicted > hopeless * all[0].predicted) {
        if (options_.verbose)
          message(fmt::format("{} is predicted to be far behind; --kernel measures it anyway", name));
        continue;
      }
      all.push_back(std::move(timed));
    }
    return all;
  }

  // Kernels for measurements, which the library never chooses: LU, which leaves no Hermitian factor, and calls for one
  // system each over streams; the latter only where others are asked for, since they take long to set up.
  void add_lone_kernels(const HermitianCase &problem, const HermitianBenchSet &set,
                        std::vector<HermitianTimed> &all) const {
    if (!problem.orders.empty() || problem.definiteness == "try" || options_.predictions) return;
    const bool all_wanted = options_.verbose || !options_.peers.names.empty();
    for (const std::string &name : kernels_on(SXT_KIND_HERMITIAN, device())) {
      const bool streams = name.find(".cusolver_streams.") != std::string::npos;
      if (name.find(".cublas.") == std::string::npos && !(streams && all_wanted && !options_.sweep)) continue;
      HermitianTimed timed;
      std::string reason;
      timed.name = timed.chosen = name;
      timed.alone_phase = streams ? "factor" : "factor-solve";
      const sxt_hermitian_query query = set.query(problem, phase_named(timed.alone_phase));
      timed.alone = select_kernel(context_.get(), name, query.q, nullptr, reason);
      if (!timed.alone) {
        if (options_.verbose) message(fmt::format("{} is left out: {}", name, reason));
        continue;
      }
      check(sxt_selection_cost(timed.alone.get(), nullptr, &timed.predicted), context_.get());
      all.push_back(std::move(timed));
    }
  }

  // ---- measuring

  void call(const HermitianTimed &timed, const HermitianCase &problem, const HermitianBenchSet &set) const {
    if (timed.alone) {
      sxt_hermitian_args args = set.args(problem);
      check(sxt_kernel_run(timed.alone.get(), &args.h), context_.get());
      return check(sxt_context_synchronize(context_.get()), context_.get());
    }
    check(call(timed, phase_named(problem.phase), set.plain()), context_.get());
  }
  static sxt_status call(const HermitianTimed &timed, std::int32_t phase, const sxt_hermitian_set &set) {
    return phase == SXT_HERMITIAN_FACTOR  ? sxt_hermitian_factor(timed.handle.get(), &set)
           : phase == SXT_HERMITIAN_SOLVE ? sxt_hermitian_solve(timed.handle.get(), &set)
                                          : sxt_hermitian_factor_solve(timed.handle.get(), &set);
  }
  // The answer is checked before anything is measured; in a sweep our own.
  void verify(HermitianTimed &timed, HermitianBenchSet &set) const {
    if (timed.alone || (options_.sweep && timed.others())) return;
    set.restore_rhs();
    const sxt_hermitian_set with = set.checked();
    check(sxt_hermitian_factor_solve(timed.handle.get(), &with), context_.get());
    timed.error = set.worst_error();
    const bool single = options_.type == "f32" || options_.type == "c64";
    if (!(timed.error <= (single ? 1e-4 : 1e-12)))
      fail(exit_not_solved, "{}: a backward error of {:.1e}", timed.name, timed.error);
  }
  void name_choice(HermitianTimed &timed, std::int32_t phase) const {
    if (timed.alone) return;
    const sxt_hermitian_report report = report_of(timed);
    const bool fused = phase == SXT_HERMITIAN_FACTOR_SOLVE && report.factor_solve_kernel[0];
    timed.chosen = fused                          ? report.factor_solve_kernel
                   : phase == SXT_HERMITIAN_SOLVE ? report.solve_kernel
                                                  : report.factor_kernel;
    timed.predicted = predicted(report, phase);
    for (const char *shortcut : {report.mixed_kernel, report.butterfly_kernel, report.toeplitz_kernel}) {
      if (phase != SXT_HERMITIAN_FACTOR_SOLVE || !shortcut[0]) continue;
      timed.chosen = shortcut;
      timed.predicted = 0;  // it cannot be predicted how many systems a shortcut solves
    }
    timed.extra_bytes = report.workspace_bytes + report.kernel_bytes;
  }
  void sample(HermitianTimed &timed, const HermitianCase &problem, const HermitianBenchSet &set) const {
    if (problem.phase == "solve")
      set.restore_rhs();
    else
      set.restore();
    check(sxt_context_synchronize(context_.get()), context_.get());
    const auto start = Clock::now();
    call(timed, problem, set);
    timed.samples.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  // Time of a call and of the wait for its end, which models do not include: they predict work that is queued behind
  // other work. Measured on one system of order 1.
  double seconds_of_a_call() const {
    HermitianCase problem{1, 1, {}, "definite", "factor"};
    HermitianBenchSet set(context_.get(), options_, problem);
    sxt_hermitian_options description = hermitian_description(options_, problem);
    sxt_hermitian *made = nullptr;
    check(sxt_hermitian_create(context_.get(), &description, &made), context_.get());
    HermitianTimed timed;
    timed.handle.reset(made);
    for (int round = 0; round < 21; ++round) sample(timed, problem, set);
    std::sort(timed.samples.begin(), timed.samples.end());
    return std::max(0.0, timed.samples[timed.samples.size() / 2] - report_of(timed).predicted_factor_s);
  }
  // Kernels take turns; solves do not, because they need their own factors in place. Each is measured at least twice,
  // and the first time does not count. In a sweep, whose kernels have run at smaller orders, long calls are measured
  // once where time is short; short ones are repeated to reduce noise.
  void time_phase(const std::vector<HermitianTimed *> &all, const HermitianCase &problem, const HermitianBenchSet &set,
                  double seconds) const {
    constexpr double least_seconds = 0.01;
    const auto end = Clock::now() + std::chrono::duration<double>(std::max(seconds, least_seconds));
    const int least = options_.sweep && !points_.empty() ? 0 : 1;
    const auto over = [&](int round) { return round > options_.repeat || (round > least && Clock::now() > end); };
    const bool solving = problem.phase == "solve";
    for (HermitianTimed *timed : all) timed->samples.clear();
    for (int round = 0; !solving && !over(round); ++round)
      for (std::size_t turn = 0; turn < all.size(); ++turn)
        sample(*all[(turn + static_cast<std::size_t>(round)) % all.size()], problem, set);
    for (HermitianTimed *timed : all) {
      if (solving) {
        set.restore();
        check(call(*timed, SXT_HERMITIAN_FACTOR, set.plain()), context_.get());
        for (int round = 0; !over(round); ++round) sample(*timed, problem, set);
      }
      if (timed->samples.size() > 1) timed->samples.erase(timed->samples.begin());
      std::sort(timed->samples.begin(), timed->samples.end());
      timed->seconds = timed->samples[timed->samples.size() / 2];
    }
  }

  void one_set(HermitianCase problem, double seconds) {
    HermitianBenchSet set(context_.get(), options_, problem);
    std::vector<HermitianTimed> all = contenders(problem);
    for (HermitianTimed &timed : all) verify(timed, set);
    add_lone_kernels(problem, set, all);
    for (const std::string &phase : options_.phases) {
      problem.phase = phase;
      std::vector<HermitianTimed *> here;
      for (HermitianTimed &timed : all)
        if (!timed.alone || phase == timed.alone_phase) here.push_back(&timed);
      time_phase(here, problem, set, seconds / static_cast<double>(options_.phases.size()));
      for (HermitianTimed *timed : here) name_choice(*timed, phase_named(phase));
      cpu_thread_seconds_ = options_.cpu_thread ? seconds_on_one_thread(options_, problem) : 0;
      tell(problem, set, here);
    }
  }

  // ---- reporting

  void tell(const HermitianCase &problem, const HermitianBenchSet &set, const std::vector<HermitianTimed *> &all) {
    const HermitianTimed *other = nullptr;
    for (const HermitianTimed *timed : all)
      if (timed->others() && (!other || timed->seconds < other->seconds)) other = timed;
    const double flops = problem.flops(is_complex(type_named(options_.type)), options_.n_rhs);
    const std::string order = problem.orders.empty() ? fmt::format("{}", problem.n)
                                                     : fmt::format("{}..{}", options_.mixed[0], options_.mixed[1]);
    if (!problem.orders.empty() || options_.mixed.empty())
      if (problem.definiteness == "definite") definite_[set_name(problem, order)] = all[0]->seconds;
    for (const HermitianTimed *each : all) {
      const HermitianTimed &timed = *each;
      const double ratio = other ? other->seconds / timed.seconds : 0;
      rows_.push_back({{"suite", "hermitian"},
                       {"case", fmt::format("{} {} {} n={} systems={}", problem.phase, problem.definiteness,
                                            options_.type, order, problem.batch)},
                       {"kernel", timed.name},
                       {"chosen", timed.chosen},
                       {"seconds", timed.seconds},
                       {"peer", other ? Json(other->name) : Json()},
                       {"peer_seconds", other ? Json(other->seconds) : Json()},
                       {"ratio", other ? Json(ratio) : Json()},
                       {"n", problem.n},
                       {"systems", problem.batch},
                       {"type", options_.type},
                       {"phase", problem.phase},
                       {"definiteness", problem.definiteness},
                       {"flops_per_s", flops / timed.seconds},
                       {"predicted_seconds", timed.predicted},
                       {"call_seconds", call_s_},
                       {"set_bytes", set.bytes()},
                       {"extra_bytes", timed.extra_bytes},
                       {"backward_error", timed.error}});
      if (options_.cpu_thread) {
        rows_.back()["cpu_thread_seconds"] = cpu_thread_seconds_;
        rows_.back()["cpu_thread_ratio"] = cpu_thread_seconds_ / timed.seconds;
      }
      if (timed.name == own_choice && options_.sweep && problem.phase == options_.phases[0] && problem.orders.empty())
        points_.push_back({problem.n, flops / timed.seconds, other ? flops / other->seconds : 0});
      if (timed.name == own_choice && timed.predicted > 0) predictions_[timed.chosen].push_back(to_measured(timed));
      add_line(problem, order, timed, other, flops);
    }
  }
  static std::string set_name(const HermitianCase &problem, const std::string &order) {
    return fmt::format("{} {} {}", problem.phase, order, problem.batch);
  }
  void add_line(const HermitianCase &problem, const std::string &order, const HermitianTimed &timed,
                const HermitianTimed *other, double flops) {
    std::vector<std::string> line = {
        order,
        count_text(problem.batch),
        options_.definiteness.size() > 1 ? problem.phase + " " + problem.definiteness : problem.phase,
        timed.name == own_choice ? "* " + timed.chosen : timed.name,
        fmt::format("{:.4g}", timed.seconds * 1e3),
        fmt::format("{:.1f}", flops / timed.seconds * 1e-9),
        fmt::format("{:.2f}", to_measured(timed)),
        other ? other->name : "-",
        other ? fmt::format("{:.4g}", other->seconds * 1e3) : "-",
        other ? fmt::format("{:.2f}", other->seconds / timed.seconds) : "-"};
    if (options_.definiteness.size() > 1) {
      const auto found = definite_.find(set_name(problem, order));
      line.push_back(found == definite_.end() ? "-" : fmt::format("{:.2f}", timed.seconds / found->second));
    }
    if (options_.cpu_thread) line.push_back(fmt::format("{:.0f}", cpu_thread_seconds_ / timed.seconds));
    const bool shown =
        timed.name == own_choice || options_.verbose || !options_.peers.names.empty() || timed.name == options_.kernel;
    if (shown) sheet_.lines.push_back(std::move(line));
  }

  // Predicted over measured seconds, less what a call and its wait take.
  double to_measured(const HermitianTimed &timed) const {
    return timed.predicted / std::max(timed.seconds - call_s_, 0.1 * timed.seconds);
  }

  int finish() {
    Json more = Json::object();
    if (options_.predictions) {
      more["predictions"] = prediction_errors(predictions_);
      if (!options_.json) print("{}", prediction_verdict(more["predictions"]));
    }
    if (!points_.empty()) {
      judge_neighbours(points_);
      const std::string verdict = sweep_verdict(points_);
      if (!options_.json) print("{}", verdict);
      more["sweep"] = sweep_curve(points_), more["verdict"] = verdict;
      if (!options_.svg.empty())
        write_text(options_.svg,
                   sweep_svg(fmt::format("{} of {} systems", options_.phases[0], options_.type), points_));
    }
    return finish_device(options_, context_.get(), {sheet_}, rows_, more);
  }

  const Options &options_;
  Context context_;
  bool on_device_ = false;
  double seconds_ = 0;
  double seconds_a_cost_ = 0;      // of the last case
  double call_s_ = 0;              // of a call and its wait, beside the work
  double cpu_thread_seconds_ = 0;  // of the reported case, by LAPACK on one thread
  Clock::time_point start_;
  Sheet sheet_;
  Json rows_ = Json::array();
  std::map<std::string, double> definite_;  // seconds of the choice on definite sets, by set_name
  std::vector<HermitianPoint> points_;
  HermitianPredictions predictions_;
};

}  // namespace

int bench_hermitian(const HermitianBenchOptions &options) { return Suite(options).run(); }

}  // namespace tool
