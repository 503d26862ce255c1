// SPDX-License-Identifier: BSD-3-Clause
// sextant bench hermitian: sets of Hermitian systems by every kernel that applies, next to LAPACK, one system a thread
// (CPU), or to cuSOLVER (GPU). Sets are made where they are worked on, and made anew before each timed call, because a
// factorisation overwrites them. A call is timed from outside, waiting included.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>

#include "bench_device.hpp"
#include "command.hpp"
#include "sextant/kinds/hermitian.h"
#include "sextant/kinds/hermitian_step.h"
#include "table.hpp"

namespace tool {
namespace {

using HermitianHandle = std::unique_ptr<sxt_hermitian, Destroyer<sxt_hermitian_destroy>>;

struct Options : BenchOptions {
  std::string phase = "factor-solve", type = "c128", definiteness = "definite", triangle = "lower";
  std::int64_t systems = 0, n_rhs = 1;
  bool sweep = false;
};

const std::map<std::string, sxt_value_type> kTypes{
    {"f32", SXT_F32}, {"f64", SXT_F64}, {"c64", SXT_C64}, {"c128", SXT_C128}};
const std::map<std::string, std::int32_t> kPhases{
    {"factor", SXT_HERMITIAN_FACTOR}, {"solve", SXT_HERMITIAN_SOLVE}, {"factor-solve", SXT_HERMITIAN_FACTOR_SOLVE}};
const std::map<std::string, sxt_definiteness> kDefiniteness{
    {"definite", SXT_DEFINITE}, {"indefinite", SXT_INDEFINITE}, {"try", SXT_TRY_DEFINITE}};

bool is_complex(sxt_value_type type) { return type == SXT_C64 || type == SXT_C128; }

// Others' code, to compare with.
bool is_others(const std::string &kernel) {
  return kernel.find(".lapack.") != std::string::npos || kernel.find(".cusolver.") != std::string::npos;
}

Vector new_vector(sxt_context *context, std::int64_t n, sxt_value_type type) {
  sxt_vector *made = nullptr;
  check(sxt_vector_create(context, std::max<std::int64_t>(1, n), type, &made), context);
  return Vector(made);
}

// Systems c outside the diagonal (0.5 + 0.25 i below it) and n + c on it, dense and definite; indefinite ones have -n /
// 2 there, which makes most of their eigenvalues negative.
class Set {
 public:
  Set(sxt_context *context, const Options &options, std::int64_t n, std::int64_t batch)
      : context_(context),
        options_(options),
        type_(kTypes.at(options.type)),
        n_(n),
        batch_(batch),
        original_(new_vector(context, n * n * batch, type_)),
        matrices_(new_vector(context, n * n * batch, type_)),
        rhs_(new_vector(context, n * options.n_rhs * batch, type_)),
        solution_(new_vector(context, n * options.n_rhs * batch, type_)),
        residual_(new_vector(context, batch, SXT_F64)),
        info_(new_vector(context, batch, SXT_F32)),
        pivots_(new_vector(context, n * batch, SXT_F32)),
        shifts_(new_vector(context, batch, SXT_F64)) {
    fill(original_, 0.5, 0.25);
    fill(rhs_, 1, -0.5);
    add_to_diagonal(options.definiteness == "definite" ? static_cast<double>(n) : -0.5 * static_cast<double>(n));
  }

  // As before the first call; infos 0, as a solve reads them.
  void restore() {
    check(sxt_copy(original_.get(), matrices_.get()), context_);
    restore_rhs();
  }
  void restore_rhs() {
    check(sxt_copy(rhs_.get(), solution_.get()), context_);
    const float zero = 0;
    check(sxt_fill(&zero, info_.get()), context_);
  }
  sxt_hermitian_set set(bool with_residual) const {
    sxt_hermitian_set set;
    sxt_hermitian_set_init(&set, sizeof set);
    set.a = sxt_vector_data(matrices_.get());
    set.b = sxt_vector_data(solution_.get());
    set.info = static_cast<std::int32_t *>(sxt_vector_data(info_.get()));
    set.pivots = static_cast<std::int32_t *>(sxt_vector_data(pivots_.get()));
    if (with_residual) set.residual = static_cast<double *>(sxt_vector_data(residual_.get()));
    return set;
  }
  // The worst backward error of a call that had residuals; 1 where one was not computed.
  double error() const {
    double worst = 0;
    check(sxt_amax(residual_.get(), &worst), context_);
    return worst;
  }
  void forget_residuals() {
    const double none = 1;
    check(sxt_fill(&none, residual_.get()), context_);
  }

 private:
  void fill(const Vector &vector, double re, double im) {
    const double wide[2] = {re, im};
    const float narrow[2] = {static_cast<float>(re), static_cast<float>(im)};
    const bool single = type_ == SXT_F32 || type_ == SXT_C64;
    check(sxt_fill(single ? static_cast<const void *>(narrow) : wide, vector.get()), context_);
  }
  // By the step that regularises: nothing else reaches the diagonals of a set on a device.
  void add_to_diagonal(double value) {
    sxt_hermitian_step_query query{};
    query.q.h = {sizeof query, SXT_KIND_HERMITIAN_STEP};
    query.q.expected_runs = 1;
    query.q.value_type = type_;
    query.batch = batch_;
    query.n_max = n_;
    query.sum_n1 = static_cast<double>(n_ * batch_);
    query.sum_n2 = query.sum_n1 * static_cast<double>(n_);
    sxt_selection *selection = nullptr;
    check(sxt_kernel_select(context_, &query.q, nullptr, &selection), context_);
    const Selection owner(selection);
    sxt_hermitian_step_args args{};
    args.h = {sizeof args, SXT_KIND_HERMITIAN_STEP};
    args.step = SXT_HERMITIAN_SHIFT;
    args.value_type = type_;
    args.triangle = SXT_LOWER;
    args.batch = batch_;
    args.n_max = args.a.ld = n_;
    args.a.data = sxt_vector_data(original_.get());
    args.a.stride = n_ * n_;
    args.value = value;
    args.numbers = static_cast<double *>(sxt_vector_data(shifts_.get()));
    check(sxt_kernel_run(selection, &args.h), context_);
  }

  sxt_context *context_;
  const Options &options_;
  sxt_value_type type_;
  std::int64_t n_, batch_;
  Vector original_, matrices_, rhs_, solution_, residual_, info_, pivots_, shifts_;
};

struct Timed {
  std::string name, chosen;
  HermitianHandle handle;
  double predicted = 0, seconds = 0, error = 0;
  std::vector<double> samples;
};

class Suite {
 public:
  explicit Suite(const Options &options) : options_(options), context_(open_context(options.context)) {
    on_device_ = options.context.device != "cpu";
  }

  int run() {
    Sheet sheet;
    sheet.title = fmt::format("{} of {} {} systems, {} triangle, {} right-hand sides, times in ms", options_.phase,
                              options_.definiteness, options_.type, options_.triangle, options_.n_rhs);
    sheet.titles = {"n", "systems", "kernel", "time", "GF/s", "pred/meas", "other", "its time", "ratio"};
    for (const std::int64_t n : orders()) one_order(n, sheet);
    show(options_, sheet);
    return finish_device(options_, context_.get(), {sheet}, rows_);
  }

 private:
  std::vector<std::int64_t> orders() const {
    if (!options_.sizes.empty()) return options_.sizes;
    std::vector<std::int64_t> all;
    for (std::int64_t n = 16; options_.sweep && n <= 2048; n += 16) all.push_back(n);
    if (options_.sweep) return all;
    if (on_device_) return {64, 128, 350, 700, 1700};
    return {8, 16, 32, 64, 128, 256};
  }
  // On the CPU as many as make some hundred megaflops.
  std::int64_t systems(std::int64_t n) const {
    if (options_.systems > 0) return options_.systems;
    if (on_device_) return 1000;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(1e9 / std::pow(static_cast<double>(n), 3)), 32, 4000);
  }

  // The choice, and every kernel that applies.
  std::vector<Timed> contenders(std::int64_t n, std::int64_t batch) {
    sxt_hermitian_options description;
    sxt_hermitian_options_init(&description, sizeof description);
    description.value_type = kTypes.at(options_.type);
    description.definiteness = kDefiniteness.at(options_.definiteness);
    description.triangle = options_.triangle == "lower" ? SXT_LOWER : SXT_UPPER;
    description.batch = batch;
    description.n = n;
    description.n_rhs = options_.n_rhs;
    description.may_spoil = 1;  // else cuSOLVER could not take part
    description.expected_runs = kExpectedRuns;
    std::vector<std::string> names = kernels_on(SXT_KIND_HERMITIAN, on_device_ ? "cuda" : "cpu");
    names.insert(names.begin(), kChoice);
    std::vector<Timed> all;
    for (const std::string &name : names) {
      if (name.find(".reference.") != std::string::npos) continue;
      description.kernel = name == kChoice ? nullptr : name.c_str();
      sxt_hermitian *made = nullptr;
      const sxt_status status = sxt_hermitian_create(context_.get(), &description, &made);
      if (status != SXT_OK && name == kChoice) check(status, context_.get());
      if (status != SXT_OK) {
        if (options_.verbose) message(fmt::format("{} is left out: {}", name, sxt_last_error(context_.get())));
        continue;
      }
      Timed timed;
      timed.name = name;
      timed.handle.reset(made);
      all.push_back(std::move(timed));
    }
    return all;
  }

  sxt_status call(const Timed &timed, const sxt_hermitian_set &set) const {
    const std::int32_t phase = kPhases.at(options_.phase);
    return phase == SXT_HERMITIAN_FACTOR  ? sxt_hermitian_factor(timed.handle.get(), &set)
           : phase == SXT_HERMITIAN_SOLVE ? sxt_hermitian_solve(timed.handle.get(), &set)
                                          : sxt_hermitian_factor_solve(timed.handle.get(), &set);
  }

  // The answer is checked before anything is measured.
  void verify(Timed &timed, Set &set) {
    set.restore();
    set.forget_residuals();
    const sxt_hermitian_set with = set.set(true);
    check(sxt_hermitian_factor_solve(timed.handle.get(), &with), context_.get());
    timed.error = set.error();
    const bool single = options_.type == "f32" || options_.type == "c64";
    if (!(timed.error <= (single ? 1e-4 : 1e-12)))
      fail(kNotSolved, "{}: a backward error of {:.1e}", timed.name, timed.error);
    sxt_hermitian_report report{};
    report.struct_size = sizeof report;
    check(sxt_hermitian_get_report(timed.handle.get(), &report), context_.get());
    const std::int32_t phase = kPhases.at(options_.phase);
    const bool fused = phase == SXT_HERMITIAN_FACTOR_SOLVE && report.factor_solve_kernel[0];
    timed.chosen = fused                          ? report.factor_solve_kernel
                   : phase == SXT_HERMITIAN_SOLVE ? report.solve_kernel
                                                  : report.factor_kernel;
    timed.predicted = phase == SXT_HERMITIAN_FACTOR  ? report.predicted_factor_s
                      : phase == SXT_HERMITIAN_SOLVE ? report.predicted_solve_s
                                                     : report.predicted_factor_solve_s;
  }

  void sample(Timed &timed, Set &set) {
    const sxt_hermitian_set plain = set.set(false);
    set.restore();
    if (options_.phase == "solve") {
      check(sxt_hermitian_factor(timed.handle.get(), &plain), context_.get());
      set.restore_rhs();
    }
    check(sxt_context_synchronize(context_.get()), context_.get());
    const auto start = std::chrono::steady_clock::now();
    check(call(timed, plain), context_.get());
    timed.samples.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }

  void one_order(std::int64_t n, Sheet &sheet) {
    const std::int64_t batch = systems(n);
    Set set(context_.get(), options_, n, batch);
    std::vector<Timed> all = contenders(n, batch);
    for (Timed &timed : all) verify(timed, set);
    for (int round = 0; round < options_.repeat; ++round)
      for (std::size_t turn = 0; turn < all.size(); ++turn)
        sample(all[(turn + static_cast<std::size_t>(round)) % all.size()], set);
    for (Timed &timed : all) {
      std::sort(timed.samples.begin(), timed.samples.end());
      timed.seconds = timed.samples[timed.samples.size() / 2];
    }
    tell(n, batch, all, sheet);
  }

  double flops(std::int64_t n, std::int64_t batch) const {
    const double order = static_cast<double>(n), each = is_complex(kTypes.at(options_.type)) ? 4 : 1;
    double count = 0;
    if (options_.phase != "solve") count += order * order * order / 3;
    if (options_.phase != "factor") count += 2 * order * order * static_cast<double>(options_.n_rhs);
    return each * count * static_cast<double>(batch);
  }

  void tell(std::int64_t n, std::int64_t batch, const std::vector<Timed> &all, Sheet &sheet) {
    const Timed *other = nullptr;
    for (const Timed &timed : all)
      if (is_others(timed.name) && (!other || timed.seconds < other->seconds)) other = &timed;
    for (const Timed &timed : all) {
      const double ratio = other ? other->seconds / timed.seconds : 0;
      Json row = {{"suite", "hermitian"},
                  {"case", fmt::format("{} {} {} n={} systems={}", options_.phase, options_.definiteness, options_.type,
                                       n, batch)},
                  {"kernel", timed.name},
                  {"chosen", timed.chosen},
                  {"seconds", timed.seconds},
                  {"peer", other ? Json(other->name) : Json()},
                  {"peer_seconds", other ? Json(other->seconds) : Json()},
                  {"ratio", other ? Json(ratio) : Json()},
                  {"n", n},
                  {"systems", batch},
                  {"type", options_.type},
                  {"flops_per_s", flops(n, batch) / timed.seconds},
                  {"predicted_seconds", timed.predicted},
                  {"backward_error", timed.error}};
      rows_.push_back(std::move(row));
      if (timed.name != kChoice && !options_.verbose && options_.peers.names.empty()) continue;
      sheet.lines.push_back(
          {count_text(n), count_text(batch), timed.name == kChoice ? "* " + timed.chosen : timed.name,
           fmt::format("{:.4g}", timed.seconds * 1e3), fmt::format("{:.1f}", flops(n, batch) / timed.seconds * 1e-9),
           fmt::format("{:.2f}", timed.predicted / timed.seconds), other ? other->name : "-",
           other ? fmt::format("{:.4g}", other->seconds * 1e3) : "-", other ? fmt::format("{:.2f}", ratio) : "-"});
    }
  }

  const Options &options_;
  Context context_;
  bool on_device_ = false;
  Json rows_ = Json::array();
};

constexpr const char *kFooter =
    R"(The library's choice (*) is compared with LAPACK, one system a thread, or with cuSOLVER's batches; --peers and --verbose
show every kernel. Each answer's backward error is checked before it is timed; kernels take turns, medians are shown.
Examples:
  sextant bench hermitian --type f64 --n 32,64,128 --threads 2
  sextant bench hermitian --device cuda --peers --phase factor
  sextant bench hermitian --device cuda --sweep --json > sweep.json
Exit code 4: a kernel failed, or its answer is wrong.)";

template <class T>
std::vector<std::string> names_of(const std::map<std::string, T> &map) {
  std::vector<std::string> names;
  for (const auto &[name, value] : map) names.push_back(name);
  return names;
}

}  // namespace

void add_bench_hermitian(CLI::App &parent, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *app = parent.add_subcommand("hermitian", "Sets of Hermitian systems: factor, solve, both");
  options->repeat = 7;
  app->add_option("--n", options->sizes, "Orders")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 20000));
  app->add_flag("--sweep", options->sweep, "Orders 16, 32, ... 2048");
  app->add_option("--systems", options->systems, "Systems in a set; default 1000 on a GPU, by the order on the CPU")
      ->check(CLI::PositiveNumber);
  app->add_option("--rhs", options->n_rhs, "Right-hand sides a system")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app->add_option("--type", options->type, "Value type")->capture_default_str()->check(CLI::IsMember(names_of(kTypes)));
  app->add_option("--phase", options->phase, "What is timed")
      ->capture_default_str()
      ->check(CLI::IsMember(names_of(kPhases)));
  app->add_option("--definiteness", options->definiteness, "What is known of the systems")
      ->capture_default_str()
      ->check(CLI::IsMember(names_of(kDefiniteness)));
  app->add_option("--triangle", options->triangle, "The one that is read")
      ->capture_default_str()
      ->check(CLI::IsMember({"lower", "upper"}));
  app->add_option("--repeat", options->repeat, "Samples of each kernel")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app->add_flag("--peers{all}", options->peers.names, "Show every kernel, others' too");
  app->add_flag("--json", options->json, "The rows as JSON");
  app->add_option("--markdown", options->markdown, "Also write the table as a section of a document")
      ->type_name("FILE");
  app->add_flag("-v,--verbose", options->verbose, "Every kernel, and why others were left out");
  add_context_options(*app, options->context);
  app->footer(kFooter);
  app->callback([options, &action] {
    action = [options] {
      if (options->context.device == "auto") options->context.device = "cpu";
      return Suite(*options).run();
    };
  });
}

}  // namespace tool
