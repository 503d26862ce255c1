// SPDX-License-Identifier: BSD-3-Clause
// sextant report: one HTML file with what the workbench shows, made without it.
#include <memory>
#include <vector>

#include "commands/command.hpp"
#include "commands/generate.hpp"
#include "input/context_options.hpp"
#include "input/input_file.hpp"
#include "report/explanation.hpp"
#include "report/interrupt.hpp"
#include "report/output.hpp"
#include "report/write_file.hpp"
#include "workbench/actions.hpp"
#include "workbench/folder.hpp"
#include "workbench/job.hpp"
#include "workbench/page.hpp"

namespace tool {
namespace {

struct ReportOptions {
  ContextOptions context;
  std::vector<std::string> matrices, kernels, launches;
  std::string output, generate = "stencil-2d,banded,power-law", sizes = "1000,10000", title = "Sextant report";
};

using Line = std::vector<std::string>;

struct Step {
  std::string view, action;
  Line arguments;
};

// In the order of the page.
std::vector<Step> steps(const ReportOptions &options, const std::string &folder) {
  std::vector<Step> all = {{"machine", "machine", {"machine", "--measure"}}};
  for (const char *operation : {"axpy", "dot"})
    all.push_back({"choice", "tree", {"explain", "--tree", "--op", operation}});
  if (!options.generate.empty())
    all.push_back({"choice", "verify", {"verify-model", "--generate", options.generate, "--n", options.sizes}});
  for (const std::string &matrix : options.matrices) {
    all.push_back({"choice", "explain", {"explain", matrix, "--pattern"}});
    all.push_back({"generate", "generate", {"generate-solver", matrix, "--force", "-o", folder}});
  }
  const Line context = context_line(options.context);
  for (Step &step : all) {
    step.arguments.insert(step.arguments.end(), context.begin(), context.end());
    step.arguments.emplace_back("--json");
  }
  return all;
}

// What `sextant retune --report FILE.json` wrote, read before anything is measured.
std::vector<Result> launches(const ReportOptions &options) {
  std::vector<Result> results;
  for (const std::string &path : options.launches) {
    Result result;
    result.view = "choice", result.action = "retune", result.command = "sextant retune --report " + path;
    result.data = Json::parse(read_text(path), nullptr, false);
    if (!part(result.data, "processes").is_array())
      fail(exit_bad_input, "{}: it is no JSON report of sextant retune", path);
    results.push_back(std::move(result));
  }
  return results;
}

int report(const ReportOptions &options) {
  check_outputs({{"--output", options.output}});
  const InterruptFlag interrupt(false);  // a folder is to be removed
  const auto interrupted = [&] { return *interrupt.flag() != 0; };
  std::vector<ResultPointer> results;
  const std::vector<Result> retuned = launches(options);
  Progress progress;
  int failed = 0;
  const Folder folder("");
  for (const Step &step : steps(options, folder.path())) {
    progress.show(command_text(step.arguments), true);
    Result result = run_job(
        step.arguments, false, [](const std::string &) {}, interrupted);
    if (interrupted()) fail(exit_not_solved, "interrupted: no report was written");
    result.id = static_cast<int>(results.size()) + 1;
    result.view = step.view;
    result.action = step.action;
    result.command = command_text(step.arguments);
    if (result.data.is_object()) result.data.erase("files");  // programs end with the folder
    if (!result.error.empty()) {
      message(fmt::format("{}: {}", result.command, result.error));
      ++failed;
    }
    results.push_back(finish(std::move(result)));
  }
  for (Result result : retuned) {
    result.id = static_cast<int>(results.size()) + 1;
    results.push_back(finish(std::move(result)));
  }
  write_text(options.output, report_page(results, options.title));
  print("{}: {} results{}\n", options.output, results.size(), failed ? fmt::format(", {} of them errors", failed) : "");
  return failed ? exit_bad_input : exit_done;
}

constexpr const char *report_footer = R"(Examples:
  sextant report -o report.html                 this machine, its decision trees, its choices on generated matrices
  sextant report A.mtx B.mtx -o report.html     and for each matrix every candidate and a solve

The file holds all it needs, opens without a network, and shows everything without scripts.
Exit code 3: it cannot be written, or one of its commands failed, which it says in that command's place.)";

}  // namespace

void add_report(CLI::App &parent, Action &action) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App *app = parent.add_subcommand("report", "One HTML file: machine, models, choices, solves");
  app->add_option("matrices", options->matrices, "Matrix Market or Harwell-Boeing files, plain or .gz")
      ->type_name("MATRIX.mtx...");
  app->add_option("-o,--output", options->output, "The file")->required()->type_name("FILE.html");
  app->add_option("--generate", options->generate, generate_help)->type_name("NAMES")->capture_default_str();
  app->add_option("--n", options->sizes, "Rows of the generated matrices")
      ->type_name("ROWS,...")
      ->capture_default_str();
  app->add_option("--retune", options->launches, "Reports of sextant retune, as a table each")->type_name("FILE.json");
  app->add_option("--title", options->title, "Title of the page")->capture_default_str();
  add_context_options(*app, options->context);
  app->footer(report_footer);
  app->callback([options, &action] { action = [options] { return report(*options); }; });
}

}  // namespace tool
