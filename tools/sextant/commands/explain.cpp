// SPDX-License-Identifier: BSD-3-Clause
// sextant explain: the candidates for a matrix, their predicted costs, and the choice.
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "commands/command.hpp"
#include "commands/explain_members.hpp"
#include "input/context_options.hpp"
#include "input/hints.hpp"
#include "input/matrix_input.hpp"
#include "input/numbers.hpp"
#include "input/setup_options.hpp"
#include "names/names.hpp"
#include "report/explain_tree.hpp"
#include "report/explanation.hpp"
#include "report/pattern.hpp"
#include "report/table.hpp"
#include "report/waiting.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace tool {
namespace {

struct ExplainOptions {
  ContextOptions context;
  MatrixSource source;
  std::string op = "auto", format = "auto", preconditioner = "auto", recurrence = "auto", plan;
  SetupOptions setup;
  double runs = 1000;
  bool json = false, pattern = false;
  TreeOptions tree;
  MembersOptions members;
};

Json explain_spmv(sxt_context *context, const LoadedMatrix &matrix, const ExplainOptions &options) {
  sxt_spmv_query query{};
  query.m.q.h = {sizeof query, SXT_KIND_SPMV};
  query.m.q.expected_runs = options.runs;
  query.m.q.flags = SXT_QUERY_MATRIX | SXT_QUERY_PREDICT_ONLY;  // a storage of a large matrix takes long to build
  query.m.q.value_type = matrix.info.value_type;
  query.op = SXT_NO_TRANSPOSE;
  query.n_rhs = 1;
  sxt_selection *selection = nullptr;
  check(sxt_kernel_select(context, &query.m.q, matrix.handle.get(), &selection), context);
  const Selection owner(selection);
  return explain_json(selection);
}

Json explain_pcg(sxt_context *context, const LoadedMatrix &matrix, const ExplainOptions &options) {
  sxt_pcg_options native;
  sxt_pcg_options_init(&native, sizeof native);
  native.format = options.format.c_str();
  native.preconditioner = options.preconditioner.c_str();
  native.recurrence = options.recurrence.c_str();
  options.setup.apply(native);
  sxt_pcg *pcg = nullptr;
  const Waiting waiting("setting up", options.context);
  check(sxt_pcg_create(matrix.handle.get(), &native, &pcg), context);
  const Pcg owner(pcg);
  return explain_json(pcg);
}

// Statuses by which PCG refuses this matrix, while its products can still be explained.
bool is_not_for_pcg(sxt_status status) {
  return status == SXT_E_NOT_SQUARE || status == SXT_E_NOT_SYMMETRIC || status == SXT_E_DIAGONAL ||
         status == SXT_E_NOT_SUPPORTED;
}

// Explains the requested operation and stores its name in `op`; auto falls back from pcg to spmv with a message.
Json explain_operation(sxt_context *context, const LoadedMatrix &matrix, const ExplainOptions &options,
                       std::string &op) {
  op = options.op == "auto" ? "pcg" : options.op;
  if (op == "spmv") return explain_spmv(context, matrix, options);
  try {
    return explain_pcg(context, matrix, options);
  } catch (const ToolError &error) {
    if (options.op != "auto" || !is_not_for_pcg(error.status())) throw;
    message(fmt::format("{}; explaining spmv instead of pcg", error.what()));
  }
  op = "spmv";
  return explain_spmv(context, matrix, options);
}

// Every feature that the loaded kernels offer; null for those that this matrix does not have.
Json features_json(sxt_matrix *matrix) {
  Json features = Json::object();
  for (std::int64_t i = 0; const char *name = sxt_feature_name(i); ++i) {
    double value = std::numeric_limits<double>::quiet_NaN();
    const sxt_status status = sxt_matrix_feature(matrix, name, &value);
    features[name] = status == SXT_OK && std::isfinite(value) ? Json(value) : Json();
  }
  return features;
}

void print_explanation(const LoadedMatrix &matrix, const Json &features, Json &explanation, const std::string &op,
                       const std::string &device) {
  print("matrix     {}: {}\n", matrix.path, describe(matrix));
  print("device     {}\n", device);
  Table table({{"feature"}, {"value", true}});
  for (const auto &[name, value] : features.items()) {
    table.add({name, value.is_null() ? "-" : fmt::format("{:.6g}", value.get<double>())});
  }
  print_text(table.text());
  print("\nplan for {}\n{}", op, plan_table(explanation["plan"], 2));
  print_text(features_text(explanation["plan"], 2));
  for (const Json &note : explanation["notes"]) print("  note: {}\n", note.get<std::string>());
  const auto candidates = explanation.find("candidates");
  if (candidates == explanation.end()) return;
  print("\ncandidates (* chosen; set-up and run are predictions, +- their expected relative error)\n");
  print_text(candidate_table(*candidates, 0));
}

int explain(const ExplainOptions &options) {
  const Context context = open_context(options.context);
  if (!options.plan.empty()) check(sxt_plan_load(context.get(), options.plan.c_str(), 0), context.get());
  const LoadedMatrix matrix = [&] {
    const Waiting waiting =
        reading(options.source.path.empty() ? options.source.generate : options.source.path, options.context);
    return load(context.get(), options.source, options.setup.symmetry_tolerance);
  }();
  if (!options.members.counts.empty()) return explain_members(context.get(), matrix, options.members, options.json);
  std::string op;
  Json explanation = explain_operation(context.get(), matrix, options, op);
  const Json features = features_json(matrix.handle.get());
  const std::string device = described(context.get());
  if (!options.json) {
    print_explanation(matrix, features, explanation, op, device);
    return exit_done;
  }
  Json json;
  json["op"] = op;
  json["device"] = device;
  json["matrix"] = matrix_json(matrix);
  json["features"] = features;
  for (const char *key : {"problem", "notes", "plan", "candidates"}) json[key] = explanation[key];
  for (Json &candidate : json["candidates"]) candidate["format"] = short_format(text_of(candidate, "format"));
  if (options.pattern) json["pattern"] = pattern_json(context.get(), matrix);
  print_json(json);
  return exit_done;
}

const std::vector<std::string> of_pcg = {
    "--format",     "--precond",         "--recurrence",         "--reorder",
    "--null-space", "--expected-solves", "--symmetry-tolerance", "--assume-symmetric"};

void check_usage_of_members(const CLI::App &app, const ExplainOptions &options) {
  if (options.members.counts.empty() != options.members.network.empty())
    fail(exit_usage, "--members and --network go together: how many, and LATENCY,RATE of a message between two");
  if (options.members.counts.empty()) return;
  check_members(options.members);
  refuse_given(app, {"--op", "--runs", "--plan", "--pattern"}, "has no effect with --members");
  refuse_given(app, of_pcg, "has no effect with --members");
}

// Checks beyond the parser, as they depend on --tree and --op: an option without effect is a mistake.
void check_usage(const CLI::App &app, const ExplainOptions &options) {
  if (options.tree.wanted) {
    if (options.op == "auto") fail(exit_usage, "--tree needs --op OPERATION, such as dot or axpy");
    if (!options.source.path.empty()) fail(exit_usage, "--tree takes no matrix: {}", options.source.path);
    refuse_given(app, {"--runs", "--plan", "--generate", "--n", "--pattern"}, "has no effect with --tree");
    refuse_given(app, {"--members", "--network"}, "has no effect with --tree");
    return refuse_given(app, of_pcg, "has no effect with --tree");
  }
  if (options.source.path.empty() && options.source.generate.empty())
    fail(exit_usage, "MATRIX.mtx is required, or --generate NAME; only --tree needs none");
  check_source(options.source);
  check_usage_of_members(app, options);
  if (options.source.generate.empty()) refuse_given(app, {"--n"}, "has no effect without --generate");
  if (options.pattern && !options.json) fail(exit_usage, "--pattern needs --json");
  if (options.op != "auto" && options.op != "spmv" && options.op != "pcg")
    fail(exit_usage, "--op: {}; vector operations need --tree",
         sextant::unknown_name("operation", options.op, {"auto", "spmv", "pcg"}));
  refuse_given(app, {"--svg", "--type"}, "needs --tree");
  if (options.op == "spmv") refuse_given(app, of_pcg, "is of a pcg and has no effect with --op spmv");
  if (options.op == "pcg") refuse_given(app, {"--runs"}, "is of products and has no effect with --op pcg");
}

constexpr const char *explain_footer = R"(Examples:
  sextant explain A.mtx                  pcg where A allows it, else spmv
  sextant explain A.mtx --op spmv --json | python3 -m json.tool
  sextant explain A.mtx --members 64,1024 --network 2e-6,1e10   what that many members would take
  sextant explain --op dot --tree --svg dot.svg   which kernel at which n, without a matrix
Exit code 3: the file is missing or malformed. 4: the operation asked for does not apply to this matrix.)";

}  // namespace

void add_explain(CLI::App &parent, Action &action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App *app = parent.add_subcommand("explain", "Every candidate for a matrix: predicted cost, chosen or why not");
  add_matrix_source(*app, options->source);
  app->add_option("--op", options->op, "spmv, pcg or auto; with --tree: dot, axpy, ...")->capture_default_str();
  app->add_flag("--tree", options->tree.wanted, "The decision tree of a vector operation: n to kernel and launch");
  app->add_option("--type", options->tree.type, "--tree: type of the vectors")
      ->capture_default_str()
      ->check(one_of({"f32", "f64", "c64", "c128"}));
  app->add_option("--svg", options->tree.svg, "--tree: draw it into this file")->type_name("FILE");
  app->add_option("--runs", options->runs, "spmv: how many products the set-up is spread over")
      ->capture_default_str()
      ->check(positive_number());
  app->add_option("--format", options->format, "pcg: storage of A")->capture_default_str();
  app->add_option("--precond", options->preconditioner, "pcg: preconditioner")->capture_default_str();
  app->add_option("--recurrence", options->recurrence, "pcg: recurrence")->capture_default_str();
  options->setup.add(*app, "Of a pcg");
  app->add_option("--plan", options->plan, "Explain with the choices of this file");
  app->add_option("--members", options->members.counts, "What so many members like this device would take: N,N,...")
      ->delimiter(',')
      ->check(whole_number_from<std::int64_t>(1));
  app->add_option("--network", options->members.network, "--members: of a message, seconds and bytes a second")
      ->type_name("LATENCY,RATE");
  app->add_flag("--json", options->json, "Everything as JSON");
  app->add_flag("--pattern", options->pattern, "--json: with where the entries lie, and the lengths of the rows");
  add_context_options(*app, options->context);
  app->footer(explain_footer);
  app->callback([app, options, &action] {
    action = [app, options] {
      check_usage(*app, *options);
      if (options->tree.wanted) return explain_tree(options->context, options->op, options->tree, options->json);
      return explain(*options);
    };
  });
}

}  // namespace tool
