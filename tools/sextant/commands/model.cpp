// SPDX-License-Identifier: BSD-3-Clause
// sextant model: builds the model of one kernel from the points that tell most, and puts it into the profile.
#include <cmath>
#include <cstdlib>
#include <memory>

#include "bench/bench.hpp"
#include "commands/command.hpp"
#include "commands/generate.hpp"
#include "input/context_options.hpp"
#include "input/hints.hpp"
#include "input/numbers.hpp"
#include "model/accept.hpp"
#include "model/builder.hpp"
#include "model/formula.hpp"
#include "report/events.hpp"
#include "report/explanation.hpp"
#include "report/interrupt.hpp"
#include "report/table.hpp"
#include "report/write_file.hpp"

namespace tool {
namespace {

struct ModelOptions {
  ContextOptions context;
  BuilderSettings builder;
  std::string kernel, type = "f64", set = "small", generate, matrices, operation, points = "suggested";
  std::string events, output, accept, compare;
  bool undo = false, json = false;
};

constexpr double tolerated = 1.1;  // times the error of the whole set: fewer points that stay below are enough

Json curve_json(const std::vector<CurveStep> &curve) {
  Json json = Json::array();
  for (const CurveStep &step : curve)
    json.push_back({{"points", step.points},
                    {"median_relative_error", step.errors.median},
                    {"p90_relative_error", step.errors.p90},
                    {"seconds", step.seconds}});
  return json;
}

Json step_json(const BuiltModel &built, const std::vector<CurveStep> &curve, double error) {
  const CurveStep *found = enough(curve, tolerated * error);
  if (!found) return nullptr;
  return {{"points", found->points},
          {"share", static_cast<double>(found->points) / static_cast<double>(built.points.size())},
          {"seconds_share", found->seconds / curve.back().seconds},
          {"median_relative_error", found->errors.median}};
}

// How many of the points do nearly as well as the whole set: by the error of its own fit on the set, which has seen all
// of it, and by that of points it had not seen. Null where the set was not measured to its end.
Json enough_json(const BuiltModel &built, const std::vector<CurveStep> &curve) {
  if (curve.empty() || built.order.size() != built.points.size()) return nullptr;
  const double seen = curve.back().errors.median, unseen = built.fit.median_error;
  return {{"set_error", seen},
          {"within_set_error", step_json(built, curve, seen)},
          {"set_error_cross_validated", unseen},
          {"within_cross_validated", step_json(built, curve, unseen)}};
}

void print_enough(const Json &enough) {
  const auto line = [&](const char *error, const char *step, const char *what) {
    const Json &few = enough[step];
    if (few.is_object())
      print("enough     the first {} points ({:.0f} %): {:.1f} % on the set, whose own error is {:.1f} % ({})\n",
            few["points"].get<std::size_t>(), 100 * number_of(few, "share"),
            100 * number_of(few, "median_relative_error"), 100 * number_of(enough, error), what);
  };
  line("set_error_cross_validated", "within_cross_validated", "cross-validated");
  line("set_error", "within_set_error", "on points that it has seen");
}

Json form_json(const BuiltModel &built) {
  const sextant::FittedModel &fit = built.fit;
  Json coefficients = Json::array();
  for (std::size_t j = 0; j < fit.names.size(); ++j) {
    Json values = Json::array();
    for (const auto &row : fit.coefficients) values.push_back(row[j]);
    coefficients.push_back({{"term", fit.names[j]}, {"seconds", values}});
  }
  return {{"form", form_in_words(fit)},
          {"power", std::isfinite(fit.power) ? Json(fit.power) : Json("inf")},
          {"breakpoints", fit.breakpoints},
          {"coefficients", coefficients},
          {"median_relative_error", fit.median_error},
          {"p90_relative_error", fit.p90_error},
          {"scatter", fit.scatter},
          {"samples", fit.samples}};
}

Json samples_json(const BuiltModel &built) {
  Json samples = Json::array();
  for (const std::size_t p : built.order) {
    const ModelPoint &point = built.points[p];
    Json terms = Json::object();
    for (std::size_t j = 0; j < point.terms.size(); ++j) terms[point.terms[j]] = point.sample.terms[j];
    samples.push_back({{"matrix", point.name},
                       {"family", point.sample.family},
                       {"rows", point.sample.rows},
                       {"entries", point.sample.entries},
                       {"working_set_bytes", point.sample.working_set},
                       {"measured_s", point.sample.seconds},
                       {"noise", point.noise},
                       {"fitted_s", fitted_seconds(built.fit, point)},
                       {"before_s", point.before_s},
                       {"compared_s", point.compared_s},  // JSON has null for NaN
                       {"spent_s", point.spent_s},
                       {"terms", terms},
                       {"analytic_s", point.analytic}});  // of one unit of each term, in the order of the coefficients
  }
  return samples;
}

Json errors_json(const Errors &errors) {
  return {{"median_relative_error", errors.median}, {"p90_relative_error", errors.p90}};
}

Json model_json(const BuiltModel &built, const std::string &compared) {
  Json json;
  json["kernel"] = built.label.kernel;
  json["version"] = built.label.version;
  json["vector_type"] = built.label.vector_type;
  json["matrix_type"] = built.label.matrix_type;
  json["model_class"] = built.label.model_class;
  json["set_points"] = built.points.size();
  json["measured_points"] = built.order.size();
  json["stopped"] = built.stopped;
  json["seconds"] = built.seconds;
  json["model"] = form_json(built);
  json["before"] = errors_json(errors_of(built.points, [](const ModelPoint &p) { return p.before_s; }));
  json["compared"] = nullptr;
  if (!compared.empty()) {
    json["compared"] = errors_json(errors_of(built.points, [](const ModelPoint &p) { return p.compared_s; }));
    json["compared"]["profile"] = compared;
  }
  json["samples"] = samples_json(built);
  Json next = Json::array();
  for (const Suggestion &each : built.next) {
    next.push_back({{"matrix", built.points[each.point].name}, {"gain", each.gain}, {"seconds", each.seconds}});
    if (next.size() == 5) break;
  }
  json["next"] = next;
  json["toml"] = sextant::fit_toml(built.label, built.fit);
  json["c"] = formula_c(built.label, built.fit);
  json["python"] = formula_python(built.label, built.fit);
  return json;
}

void print_model(const BuiltModel &built, const Json &json) {
  print("kernel     {}, {}, class {}\n", built.label.kernel, built.label.vector_type, built.label.model_class);
  print("measured   {} of {} points in {}: {}\n", built.order.size(), built.points.size(), seconds_text(built.seconds),
        built.stopped);
  print("form       {}\n", form_in_words(built.fit));
  print("error      {:.1f} % (median, cross-validated), 90 % below {:.1f} %; the models in use: {:.1f} %\n",
        100 * built.fit.median_error, 100 * built.fit.p90_error,
        100 * json["before"]["median_relative_error"].get<double>());
  const Json &compared = json["compared"];
  if (compared.is_object())
    print("           by the models of {}: {:.1f} %\n", text_of(compared, "profile"),
          100 * number_of(compared, "median_relative_error"));
  if (json["enough"].is_object()) print_enough(json["enough"]);
  std::vector<Table::Column> columns = {
      {"problem"}, {"measured", true}, {"fitted", true}, {"in use", true}, {"noise", true}};
  if (compared.is_object()) columns.push_back({"compared", true});
  Table table(columns);
  for (const Json &s : json["samples"]) {
    std::vector<std::string> cells = {text_of(s, "matrix"), seconds_text(number_of(s, "measured_s")),
                                      seconds_text(number_of(s, "fitted_s")), seconds_text(number_of(s, "before_s")),
                                      fmt::format("{:.0f} %", 100 * number_of(s, "noise"))};
    if (compared.is_object()) cells.push_back(seconds_text(number_of(s, "compared_s")));
    table.add(cells);
  }
  print_text(table.text());
  for (const Json &n : json["next"])
    print("next       {}: takes away {:.1f} % of what is not known, in about {}\n", text_of(n, "matrix"),
          100 * number_of(n, "gain"), seconds_text(number_of(n, "seconds")));
  print("{}", json["toml"].get<std::string>());
}

// The one that is named, else the one that the library would look for. Where it is named no context is opened with it:
// a profile that cannot be read can still be mended.
std::string profile_to_change(const ModelOptions &options) {
  if (!options.context.profile.empty()) return options.context.profile;
  if (const char *named = std::getenv("SEXTANT_PROFILE"); named && *named) return named;
  const std::string profile = profile_of(described(open_context(options.context).get()));
  if (profile.empty() && options.undo)
    fail(exit_bad_input,
         "no profile is in use here, and so none to change back; one that cannot be read is named by --profile");
  return profile;
}

int change_profile(const ModelOptions &options) {
  const std::string profile = profile_to_change(options);
  std::string told;
  if (options.undo) {
    undo_acceptance(profile, options.context);
    told = fmt::format("{} is what it was before", profile);
  } else {
    const int replaced = accept_models(profile, options.accept, options.context);
    told = fmt::format("{} has the model{}", profile, replaced ? ", in the place of the one that it had" : "");
  }
  if (options.json)
    print_json({{"profile", profile}, {"message", told}});
  else
    print("{}\n", told);
  return exit_done;
}

// An option without effect is a mistake.
void check_model_usage(const CLI::App &app, const ModelOptions &options) {
  if (options.undo && !options.accept.empty()) fail(exit_usage, "--accept and --undo exclude each other");
  if (options.undo || !options.accept.empty())
    refuse_given(app,
                 {"kernel", "--type", "--set", "--generate", "--matrices", "--op", "--points", "--wanted", "--seconds",
                  "--output", "--events", "--compare"},
                 options.undo ? "has no effect with --undo" : "has no effect with --accept");
}

sxt_value_type type_named(const std::string &name) {
  return name == "f32" ? SXT_F32 : name == "c64" ? SXT_C64 : name == "c128" ? SXT_C128 : SXT_F64;
}

int model(const ModelOptions &options) {
  if (!options.accept.empty() || options.undo) return change_profile(options);
  if (options.kernel.empty()) fail(exit_usage, "KERNEL is required: sextant plugins lists them");
  check_outputs({{"--output", options.output}, {"--events", options.events}});
  const Context context = open_context(options.context);
  // Before the first run, as a profile that cannot be read is told at once.
  ContextOptions with_other = options.context;
  with_other.profile = options.compare;
  const Context other = options.compare.empty() ? nullptr : open_context(with_other);
  Events events(options.events);
  const InterruptFlag interrupt;
  Progress progress;
  const ModelledKernel kernel = modelled_kernel(options.kernel);
  const ModelSet set = {options.generate, options.matrices, options.operation, options.set == "full",
                        type_named(options.type)};
  BuilderSettings settings = options.builder;
  settings.all = options.points == "all";
  events.tell({{"event", "stage"}, {"stage", "the points of the set"}});
  BuiltModel built = build_model(
      context.get(), kernel, set, settings, [&] { return *interrupt.flag() != 0; },
      [&](const BuiltModel &so_far, const ModelPoint &point) {
        const double error = so_far.fit.samples ? so_far.fit.median_error : std::nan("");
        progress.show(
            fmt::format("{} of {} points, error {:.1f} %", so_far.order.size(), so_far.points.size(), 100 * error));
        if (point.measured)
          events.tell({{"event", "run"},
                       {"run", so_far.order.size()},
                       {"of", so_far.points.size()},
                       {"matrix", point.name},
                       {"working_set", point.sample.working_set},
                       {"seconds", point.sample.seconds},
                       {"fitted", fitted_seconds(so_far.fit, point)},
                       {"error", error}});
      });
  if (other)
    for (const std::size_t p : built.order)
      built.points[p].compared_s = predicted_seconds(other.get(), kernel, set, built.points[p]);
  Json json = model_json(built, options.compare);
  const std::vector<CurveStep> curve =
      options.json || settings.all ? curve_of(built.points, built.order) : std::vector<CurveStep>();
  json["curve"] = curve_json(curve);
  json["enough"] = enough_json(built, curve);
  if (!options.output.empty()) write_text(options.output, json["toml"].get<std::string>());
  if (!options.json) {
    print_model(built, json);
    return exit_done;
  }
  print_json(json);
  return exit_done;
}

constexpr const char *model_footer = R"(Examples:
  sextant model spmv.csr.rows.cpu               measure the points that tell most, fit, and print the model
  sextant model spmv.csr.rows.cpu --points all --set full --seconds 300 -o rows.toml
  sextant model cholesky.tasks.cpu --op solve   one of the operations of its kind
  sextant model spmv.csr.rows.cpu --matrices DIR
  sextant model --accept rows.toml              into the profile of this machine
  sextant model --undo                          and out again

Ctrl-C stops early and fits what was measured.)";

}  // namespace

void add_model(CLI::App &parent, Action &action) {
  auto options = std::make_shared<ModelOptions>();
  CLI::App *app = parent.add_subcommand("model", "Build the model of one kernel, from the points that tell most");
  app->add_option("kernel", options->kernel, "A kernel: spmv.csr.rows.cpu, vector.loops.cpu, ...")->type_name("KERNEL");
  app->add_option("--type", options->type, "f64, f32, or where the kernel takes them c128, c64")
      ->capture_default_str()
      ->check(one_of({"f64", "f32", "c128", "c64"}));
  app->add_option("--op", options->operation,
                  "The operation, of kinds that have several: axpy, dot, factor, solve, ...; default: the usual one")
      ->type_name("NAME");
  app->add_option("--set", options->set, "Problems: small (seconds) or full")
      ->capture_default_str()
      ->check(one_of({"small", "full"}));
  auto *generated = app->add_option("--generate", options->generate, generate_help)->type_name("NAMES");
  app->add_option("--matrices", options->matrices,
                  "Measure on a Matrix Market file, or on those of a folder, in the place of generated matrices")
      ->type_name("PATH")
      ->excludes(generated);
  app->add_option("--points", options->points,
                  "Which of the set: suggested (those that tell most for their cost) or all")
      ->capture_default_str()
      ->check(one_of({"suggested", "all"}));
  app->add_option("--wanted", options->builder.wanted, "Stop when the cross-validated median error is below this share")
      ->capture_default_str()
      ->check(number_from_zero());
  app->add_option("--seconds", options->builder.seconds, "Stop after so many seconds")
      ->capture_default_str()
      ->check(positive_number());
  app->add_option("--point-seconds", options->builder.point_seconds,
                  "About how long one point is measured; longer on a machine that has other work, too")
      ->capture_default_str()
      ->check(positive_number());
  app->add_option("-o,--output", options->output, "Write the model as an entry of a profile (TOML)")->type_name("FILE");
  app->add_option("--compare", options->compare, "Say what the models of this profile predict, too")
      ->type_name("PROFILE");
  app->add_option("--accept", options->accept, "Put the model of this file into the profile")->type_name("FILE");
  app->add_flag("--undo", options->undo, "Take the last acceptance back");
  app->add_flag("--json", options->json, "JSON instead of text");
  add_events(*app, options->events);
  add_context_options(*app, options->context);
  app->footer(model_footer);
  app->callback([app, options, &action] {
    action = [app, options] {
      check_model_usage(*app, *options);
      return model(*options);
    };
  });
}

}  // namespace tool
