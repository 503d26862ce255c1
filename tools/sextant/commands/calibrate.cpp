// SPDX-License-Identifier: BSD-3-Clause
// sextant calibrate: measures this machine and its kernels, and says how well the fitted models predict.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "commands/command.hpp"
#include "commands/verify_model.hpp"
#include "input/context_options.hpp"
#include "input/hints.hpp"
#include "input/numbers.hpp"
#include "names/names.hpp"
#include "report/error.hpp"
#include "report/events.hpp"
#include "report/interrupt.hpp"
#include "report/model_plots.hpp"
#include "report/output.hpp"
#include "report/table.hpp"
#include "report/write_file.hpp"

namespace tool {
namespace {

struct CalibrateOptions {
  ContextOptions context;
  bool quick = false, json = false, verify = false;
  double seconds = 0;
  std::string kind, output, svg, samples, events;
  std::vector<std::string> svg_kernels;
};

// The library's report on one fitted model; its strings are only lent.
struct Model {
  std::string kernel;
  sxt_model_info info;
};

const char *type_name(sxt_value_type type) {
  switch (type) {
#define SXT_X(name, value, text, bytes) \
  case value: return text;
    SXT_VALUE_TABLE(SXT_X)
#undef SXT_X
    default: return "";
  }
}

std::string types_text(sxt_value_type vectors, sxt_value_type matrix) {
  const bool mixed = matrix != 0 && matrix != vectors;
  return mixed ? fmt::format("{}/{}", type_name(vectors), type_name(matrix)) : type_name(vectors);
}

std::string form_text(const sxt_model_info &info) {
  if (info.samples == 0) return "set-up only";
  const std::string form = info.power == 1          ? "sum"
                           : std::isinf(info.power) ? "maximum"
                                                    : fmt::format("soft maximum {:g}", info.power);
  if (info.breakpoints == 0) return form;
  return fmt::format("{}, {} breakpoint{}", form, info.breakpoints, info.breakpoints == 1 ? "" : "s");
}

// Progress on a terminal is one line that is overwritten; in a log file, a line every few seconds.
class Reporter {
 public:
  explicit Reporter(const std::string &events) : events_(events) {}
  bool cancelled() const { return *interrupt_.flag() != 0; }
  void report(double done, const char *what, double seconds_left) {
    const std::string line = fmt::format("calibrating: {:3.0f} %, {:.0f} s left: {}", 100 * done, seconds_left, what);
    progress_.show(line);
    if (events_.due(5))
      events_.tell({{"event", "progress"}, {"done", done}, {"what", what}, {"seconds_left", seconds_left}});
    const auto now = std::chrono::steady_clock::now();
    if (progress_.visible() || now < next_) return;
    next_ = now + std::chrono::seconds(10);
    message(line);
  }

 private:
  InterruptFlag interrupt_;
  Progress progress_;
  Events events_;
  std::chrono::steady_clock::time_point next_{};
};

std::int32_t on_progress(void *user, double done, const char *what, double seconds_left) {
  auto &reporter = *static_cast<Reporter *>(user);
  reporter.report(done, what, seconds_left);
  return reporter.cancelled() ? 1 : 0;
}

void on_model(void *user, const sxt_model_info *info) {
  static_cast<std::vector<Model> *>(user)->push_back({info->kernel, *info});
}

// A kernel that is not loaded, or not measured, is detected before the measurements.
void check_kernels(const std::vector<std::string> &kernels, const std::string &kind) {
  for (const std::string &kernel : kernels) {
    bool known = false;
    std::vector<std::string> names;
    for (std::int64_t i = 0; !known && i < sxt_kernel_count(); ++i) {
      sxt_kernel_info info{};
      info.struct_size = sizeof info;
      check(sxt_kernel_get(i, &info), nullptr);
      known = kernel == info.name;
      names.emplace_back(info.name);
      if (known && !kind.empty() && kind != info.kind)
        fail(exit_usage, "--svg-kernels: {} is of kind {}, but --kind {} alone is measured", kernel, info.kind, kind);
    }
    if (known) continue;
    const std::string meant = sextant::nearest_name(kernel, names);
    fail(exit_usage, "--svg-kernels: no kernel '{}' is loaded{}; sextant plugins lists them", kernel,
         meant.empty() ? "" : fmt::format("; the nearest is '{}'", meant));
  }
}

// What was measured: for the plot, and as lines of a table.
struct Samples {
  std::vector<ModelSample> plotted;
  std::string lines =
      "kernel,version,types,class,launch,family,rows,entries,working_set_bytes,measured_s,fitted_s,terms\n";
};

void on_sample(void *user, const sxt_model_sample *sample) {
  auto &samples = *static_cast<Samples *>(user);
  const std::string types = types_text(sample->vector_type, sample->matrix_type);
  samples.plotted.push_back(
      {sample->kernel, types, sample->model_class, sample->working_set_bytes, sample->measured_s, sample->fitted_s});
  std::string terms;
  for (std::int64_t i = 0; i < sample->n_terms; ++i)
    terms += fmt::format("{}{}={:.9g}", i ? " " : "", sample->term_names[i], sample->terms[i]);
  const std::int64_t *launch = sample->launch;
  samples.lines +=
      fmt::format("{},{},{},{},{}x{}x{}x{},{},{:.0f},{:.0f},{:.9g},{:.9g},{:.9g},{}\n", sample->kernel, sample->version,
                  types, sample->model_class, launch[0], launch[1], launch[2], launch[3], sample->family, sample->rows,
                  sample->entries, sample->working_set_bytes, sample->measured_s, sample->fitted_s, terms);
}

void print_table(const std::vector<Model> &models) {
  Table table({{"kernel"},
               {"types"},
               {"class", true},
               {"samples", true},
               {"median error", true},
               {"90 % below", true},
               {"set-up", true},
               {"form"}});
  for (const Model &model : models) {
    const sxt_model_info &info = model.info;
    const bool fitted = info.samples > 0;
    table.add({model.kernel, types_text(info.vector_type, info.matrix_type), std::to_string(info.model_class),
               std::to_string(info.samples), fitted ? fmt::format("{:.1f} %", 100 * info.median_error) : "-",
               fitted ? fmt::format("{:.1f} %", 100 * info.p90_error) : "-",
               info.setup_samples ? fmt::format("x {:.2g}", info.setup_factor) : "-", form_text(info)});
  }
  print("{}", table.text());
}

Json calibration_json(const std::vector<Model> &models, const std::string &path, double seconds, bool cancelled) {
  Json list = Json::array();
  for (const Model &model : models) {
    const sxt_model_info &info = model.info;
    list.push_back({{"kernel", model.kernel},
                    {"vector_type", type_name(info.vector_type)},
                    {"matrix_type", type_name(info.matrix_type)},
                    {"version", info.version},
                    {"model_class", info.model_class},
                    {"samples", info.samples},
                    {"form", form_text(info)},
                    {"breakpoints", info.breakpoints},
                    {"median_relative_error", info.median_error},
                    {"p90_relative_error", info.p90_error},
                    {"scatter", info.scatter},
                    {"setup_samples", info.setup_samples},
                    {"setup_factor", info.setup_factor}});
  }
  return {{"profile", path}, {"seconds", seconds}, {"cancelled", cancelled}, {"models", list}};
}

int run_calibrate(const CalibrateOptions &options) {
  if (options.svg.empty() && !options.svg_kernels.empty()) fail(exit_usage, "--svg-kernels needs --svg");
  check_outputs({{"--svg", options.svg},
                 {"--samples", options.samples},
                 {"--output", options.output},
                 {"--events", options.events}});
  const Context context = open_context(options.context);
  check_kernels(options.svg_kernels, options.kind);
  Reporter reporter(options.events);
  std::vector<Model> models;
  sxt_calibrate_options native;
  sxt_calibrate_options_init(&native, sizeof native);
  native.quick = options.quick ? 1 : 0;
  native.seconds = options.seconds;
  native.kind = options.kind.empty() ? nullptr : options.kind.c_str();
  native.path = options.output.empty() ? nullptr : options.output.c_str();
  native.progress = on_progress;
  native.progress_user = &reporter;
  native.model = on_model;
  native.model_user = &models;
  Samples samples;
  native.sample = options.svg.empty() && options.samples.empty() ? nullptr : on_sample;
  native.sample_user = &samples;
  char path[4096] = "";
  const auto start = std::chrono::steady_clock::now();
  check(sxt_calibrate(context.get(), &native, path, sizeof path, nullptr), context.get());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!options.samples.empty()) write_text(options.samples, samples.lines);
  constexpr double applies = 1000;
  Judgement judgement;
  const bool verifies = options.verify && !reporter.cancelled();
  if (verifies) judgement = verify_on_generated(context.get(), applies);
  if (options.json) {
    Json report = calibration_json(models, path, seconds, reporter.cancelled());
    report["verify"] = verifies ? judgement_json(judgement) : Json();
    print_json(report);
  } else {
    print_table(models);
    print("\n{} models in {:.1f} s{}; profile: {}\n", models.size(), seconds,
          reporter.cancelled() ? ", stopped early" : "", path);
    if (verifies) print("{}", judgement_text(judgement, applies));
  }
  // Last: a kernel without runs cannot be drawn, and the measurements are still reported.
  if (!options.svg.empty()) write_text(options.svg, samples_svg(samples.plotted, options.svg_kernels));
  return exit_done;
}

constexpr const char *calibrate_footer = R"(Examples:
  sextant calibrate                             90 s on a CPU, 60 s on a GPU; leave the machine alone meanwhile
  sextant calibrate --quick                     20 s
  sextant calibrate --kind sxt.pcg/1 --seconds 30
  sextant calibrate -o this-machine.toml --svg models.svg
  sextant calibrate --verify                    then every candidate on generated matrices that no fit has seen

Later runs on this machine find the profile it writes; -o puts it elsewhere, for --profile.
Ctrl-C stops early and keeps what was measured. Exit code 3: the profile cannot be written.)";

}  // namespace

void add_calibrate(CLI::App &app, Action &action) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App *command = app.add_subcommand("calibrate", "Measure this machine and fit the models of its kernels");
  command->add_flag("--quick", options->quick, "About 20 s and small problems, instead of 90 s (60 s on a GPU)");
  command->add_option("--seconds", options->seconds, "Another time budget")->check(positive_number());
  command->add_option("--kind", options->kind, "One kind alone, such as sxt.pcg/1");
  command->add_option("-o,--output", options->output,
                      "Profile to create or extend; default $SEXTANT_PROFILE, else this machine's own file");
  command->add_option("--svg", options->svg, "Draw measured runs and fitted models into this file")->type_name("FILE");
  command->add_option("--svg-kernels", options->svg_kernels, "--svg: of these kernels; default: a few")->delimiter(',');
  command->add_option("--samples", options->samples, "Write every measured run with its terms into this CSV file")
      ->type_name("FILE");
  command->add_flag("--verify", options->verify,
                    "Judge the models at the end by products with matrices that they have not seen; takes longer");
  command->add_flag("--json", options->json, "JSON instead of a table");
  add_events(*command, options->events);
  add_context_options(*command, options->context);
  command->footer(calibrate_footer);
  command->callback([options, &action] { action = [options] { return run_calibrate(*options); }; });
}

}  // namespace tool
