// SPDX-License-Identifier: BSD-3-Clause
// sextant generate-solver: chooses a method for a matrix, solves, and writes a program that does the same.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "commands/command.hpp"
#include "commands/generate.hpp"
#include "input/context_options.hpp"
#include "input/hints.hpp"
#include "input/input_file.hpp"
#include "input/matrix_input.hpp"
#include "input/solver_options.hpp"
#include "report/events.hpp"
#include "report/explanation.hpp"
#include "report/interrupt.hpp"
#include "report/shell.hpp"
#include "report/table.hpp"
#include "report/waiting.hpp"
#include "report/write_file.hpp"
#include "solver/program.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

constexpr double timing_seconds = 2;  // about how long solves are repeated
constexpr std::int64_t most_history = 1 << 20;
constexpr std::size_t shown_history = 400;  // points of it in the JSON

struct GenerateOptions : SolverOptions {
  ContextOptions context;
  MatrixSource source;
  std::string rhs, directory, language = "c", events;
  bool force = false, json = false;
};

// One set-up, solved several times from zero.
struct Runs {
  sxt_pcg_report first{}, typical{};  // typical: of the solve that took the median
  std::vector<double> seconds, history;
  double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return 0.5 * (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]);
  }
};

std::string in_directory(const GenerateOptions &options, const std::string &name) {
  return (fs::path(options.directory) / name).string();
}

Language language_of(const GenerateOptions &options) {
  return options.language == "c" ? Language::c : Language::fortran;
}

// With the extension of the file, by which the library knows its format.
std::string program_matrix(const MatrixSource &source) {
  if (!source.generate.empty()) return "matrix.mtx";
  const fs::path path = source.path;
  const bool zipped = path.extension() == ".gz";
  const std::string format = (zipped ? path.stem() : path).extension().string();
  return "matrix" + (format.empty() ? ".mtx" : format) + (zipped ? ".gz" : "");
}

// The files of a program, its source first.
std::vector<std::string> program_files(const GenerateOptions &options, Language language) {
  std::vector<std::string> files = {source_name(language), "CMakeLists.txt", "plan.toml",
                                    program_matrix(options.source)};
  if (!options.rhs.empty()) files.emplace_back("rhs.mtx");
  return files;
}

// The folder of the program, which is removed again where it was made here and nothing came into it.
class ProgramFolder {
 public:
  explicit ProgramFolder(const std::string &path) : path_(path) {
    std::error_code error;
    made_ = fs::create_directories(path_, error);
    if (error) fail(exit_bad_input, "{}: {}", path_, error.message());
  }
  ~ProgramFolder() {
    std::error_code ignored;
    if (made_) fs::remove(path_, ignored);  // removes no folder with files
  }
  ProgramFolder(const ProgramFolder &) = delete;
  ProgramFolder &operator=(const ProgramFolder &) = delete;

 private:
  std::string path_;
  bool made_ = false;
};

// The matrix or right-hand side that was given lies where the program will look for it.
bool is_in_place(const GenerateOptions &options, const std::string &name) {
  std::error_code error;
  const std::string given = name == program_matrix(options.source) ? options.source.path
                            : name == "rhs.mtx"                    ? options.rhs
                                                                   : "";
  return !given.empty() && fs::equivalent(in_directory(options, name), given, error);
}

// Throws where one of the files is there already, unless it may be replaced or is the one that was given.
void check_directory(const GenerateOptions &options, const std::vector<std::string> &files) {
  std::error_code error;
  for (const std::string &name : files) {
    const std::string path = in_directory(options, name);
    if (is_in_place(options, name)) continue;
    if (!options.force && fs::exists(path, error))
      fail(exit_bad_input, "{} is there already, and may have been changed by hand; --force replaces it", path);
    check_writable(path);
  }
}

// The matrix of the program: what is solved here is what the program reads. A generated one is written under another
// name, which goes where no program comes of it.
class ProgramMatrix {
 public:
  ProgramMatrix(const GenerateOptions &options)
      : path_(options.source.path), place_(in_directory(options, program_matrix(options.source))) {
    if (options.source.generate.empty()) return;
    written_ = path_ = in_directory(options, fmt::format(".matrix-{}.mtx", getpid()));
    write_matrix(path_, generated(options.source));
  }
  ~ProgramMatrix() {
    std::error_code ignored;
    if (!written_.empty()) fs::remove(written_, ignored);
  }
  ProgramMatrix(const ProgramMatrix &) = delete;
  ProgramMatrix &operator=(const ProgramMatrix &) = delete;
  const std::string &path() const { return path_; }
  const std::string &shown() const { return written_.empty() ? path_ : place_; }
  // Puts it into its place.
  void keep() {
    std::error_code error;
    if (!written_.empty()) {
      fs::rename(written_, place_, error);
      if (error) fail(exit_bad_input, "{}: {}", place_, error.message());
      written_.clear();
      return;
    }
    if (fs::equivalent(path_, place_, error)) return;
    InputFile from(path_);
    OutputFile to(place_);
    std::vector<char> piece(std::size_t{1} << 20);
    for (std::size_t got; (got = from.read(piece.data(), piece.size())) > 0;) to.write({piece.data(), got});
    to.commit();
  }

 private:
  std::string path_, place_, written_;
};

std::int32_t tell_iteration(void *user, std::int64_t iteration, double relative_residual) {
  Events &events = *static_cast<Events *>(user);
  if (events.due()) events.tell({{"event", "iteration"}, {"iteration", iteration}, {"residual", relative_residual}});
  return 0;
}

// Throws for a solve that does not converge: there is nothing to reproduce.
sxt_pcg_report solve_once(sxt_context *context, sxt_pcg *pcg, const HostVector &b, HostVector &x,
                          const sxt_solve_options &native) {
  sxt_pcg_report report{};
  report.struct_size = sizeof report;
  const sxt_status status = sxt_pcg_solve_array(pcg, b.length(), b.values.data(), x.values.data(), &native, &report);
  if (status == SXT_NOT_CONVERGED)
    throw ToolError(exit_not_solved, in_options(sxt_last_error(context)) + "; no program was written", status);
  check(status, context);
  return report;
}

Runs run_for_program(sxt_context *context, sxt_pcg *pcg, const HostVector &b, HostVector &x, Events &events) {
  const InterruptFlag interrupt;
  Runs runs;
  runs.history.resize(static_cast<std::size_t>(most_history));
  volatile std::int64_t length = 0;
  sxt_solve_options native;
  sxt_solve_options_init(&native, sizeof native);
  native.cancel = interrupt.flag();
  native.history = runs.history.data();
  native.history_capacity = most_history;
  native.history_length = &length;
  if (events.wanted()) {
    native.progress = tell_iteration;
    native.progress_user = &events;
  }
  runs.first = solve_once(context, pcg, b, x, native);
  runs.history.resize(static_cast<std::size_t>(std::min(std::int64_t{length}, most_history)));
  native.history = nullptr;
  native.history_capacity = 0;
  native.progress = nullptr;  // as the program will solve
  // The first one meets cold caches; an odd number of others is timed.
  const double once = std::max(runs.first.solve_seconds, 1e-9);
  const int repeats = 2 * static_cast<int>(std::clamp(timing_seconds / once, 3.0, 21.0) / 2) + 1;
  std::vector<sxt_pcg_report> reports;
  for (int i = 0; i < repeats; ++i) {
    events.tell({{"event", "timing"}, {"solve", i + 1}, {"of", repeats}});
    const sxt_pcg_report report = solve_once(context, pcg, b, x, native);
    if (report.iterations != runs.first.iterations)
      fail(exit_not_solved,
           "two solves took {} and {} iterations: this plan adds in varying order; --deterministic gives equal bits",
           runs.first.iterations, report.iterations);
    runs.seconds.push_back(report.solve_seconds);
    reports.push_back(report);
  }
  const double median = runs.median();
  for (const sxt_pcg_report &report : reports)
    if (report.solve_seconds == median) runs.typical = report;
  return runs;
}

// At most shown_history of [iteration, residual], the last one among them.
Json history_json(const std::vector<double> &history) {
  Json out = Json::array();
  const std::size_t step = std::max<std::size_t>(1, history.size() / shown_history);
  for (std::size_t i = 0; i < history.size(); ++i)
    if (i % step == 0 || i + 1 == history.size()) out.push_back({i, history[i]});
  return out;
}

Json program_json(const GenerateOptions &options, const LoadedMatrix &matrix, const Runs &runs, const Json &explanation,
                  const std::vector<std::string> &files) {
  const sxt_pcg_report &report = runs.first;
  Json json;
  json["directory"] = options.directory;
  json["files"] = files;
  json["language"] = options.language;
  json["reason"] = sxt_reason_name(report.reason);
  json["iterations"] = report.iterations;
  json["true_relative_residual"] = report.true_relative_residual;
  json["repeats"] = runs.seconds.size();
  json["measured_setup_seconds"] = report.setup_seconds;
  json["measured_solve_seconds"] = runs.median();
  json["measured_iteration_seconds"] = runs.typical.iteration_seconds;
  json["measured_residual_seconds"] = runs.typical.residual_seconds;
  json["predicted_setup_seconds"] = report.predicted_setup_seconds;
  json["predicted_solve_seconds"] = report.predicted_solve_seconds;
  json["predicted_iteration_seconds"] = report.predicted_iteration_seconds;
  json["predicted_residual_seconds"] = report.predicted_residual_seconds;
  json["predicted_iterations"] = report.predicted_iterations;
  json["confirmations"] = report.confirmations;
  json["rhs"] = options.rhs.empty() ? "A * ones" : options.rhs;
  json["kernels"] = kernel_names(explanation["plan"]);
  json["history"] = history_json(runs.history);
  for (const char *part : {"problem", "notes", "plan", "candidates"}) json[part] = explanation[part];
  json["matrix"] = matrix_json(matrix);
  return json;
}

void print_report(const GenerateOptions &options, const LoadedMatrix &matrix, const Runs &runs, const Json &explanation,
                  const std::vector<std::string> &files) {
  print("matrix     {}: {}\n", matrix.path, describe(matrix));
  print("plan\n");
  print_text(plan_table(explanation["plan"], 2));
  print("solved     {} iterations, {} a solve (the median of {})\n", runs.first.iterations, seconds_text(runs.median()),
        runs.seconds.size());
  tool::print("written    {}\n", fmt::join(files, ", "));
  print("build      cmake -S {0} -B {0}/build && cmake --build {0}/build && {0}/build/solve {0}\n",
        shell_word(options.directory));
}

ProgramFacts facts_of(const GenerateOptions &options, const LoadedMatrix &matrix, const Runs &runs) {
  ProgramFacts facts;
  facts.language = language_of(options);
  facts.context = options.context;
  facts.solver = options;
  facts.rows_per_byte = file_rows_per_byte();
  facts.matrix = program_matrix(options.source);
  facts.rhs_file = !options.rhs.empty();
  facts.complex_values = matrix.info.value_type == SXT_C128;
  facts.iterations = runs.first.iterations;
  facts.repeats = static_cast<int>(runs.seconds.size());
  facts.seconds = runs.median();
  return facts;
}

int generate_solver(const GenerateOptions &options) {
  check_source(options.source);
  check_outputs({{"--events", options.events}});
  Events events(options.events);
  const Context context = open_context(options.context);
  const std::vector<std::string> files = program_files(options, language_of(options));
  const ProgramFolder folder(options.directory);
  check_directory(options, files);
  events.tell({{"event", "stage"}, {"stage", "reading"}});
  ProgramMatrix file(options);
  const LoadedMatrix matrix = [&] {
    const Waiting waiting = reading(file.path(), options.context);
    LoadedMatrix read = read_matrix(context.get(), file.path(), options.setup.symmetry_tolerance);
    read.path = file.shown();
    return read;
  }();
  const HostVector b = options.rhs.empty()
                           ? product_with_ones(context.get(), matrix)
                           : read_vector(context.get(), options.rhs, matrix.info.rows, matrix.info.value_type);
  events.tell({{"event", "stage"}, {"stage", "setting up"}});
  const Pcg pcg = [&] {
    const Waiting waiting("setting up", options.context);
    return make_solver(context.get(), matrix.handle.get(), options);
  }();
  events.tell({{"event", "stage"}, {"stage", "solving"}});
  HostVector x(matrix.info.value_type, matrix.info.cols);
  const Runs runs = run_for_program(context.get(), pcg.get(), b, x, events);

  const ProgramFacts facts = facts_of(options, matrix, runs);
  file.keep();
  if (facts.rhs_file && !is_in_place(options, "rhs.mtx")) write_vector(in_directory(options, "rhs.mtx"), b);
  check(sxt_plan_save(context.get(), in_directory(options, "plan.toml").c_str()), context.get());
  write_text(in_directory(options, "CMakeLists.txt"), cmake_text(facts));
  write_text(in_directory(options, files.front()), source_text(facts));

  const Json explanation = explain_json(pcg.get());
  if (options.json)
    print_json(program_json(options, matrix, runs, explanation, files));
  else
    print_report(options, matrix, runs, explanation, files);
  return exit_done;
}

constexpr const char *generate_solver_footer = R"(Examples:
  sextant generate-solver A.mtx -o solver       a C program with its plan, matrix and CMake file
  sextant generate-solver A.mtx --rhs b.mtx --expected-solves 100 --language fortran -o solver
  sextant generate-solver --generate stencil-3d --n 1000000 -o solver

Build it against the installed library: cmake -S solver -B solver/build && cmake --build solver/build.
Exit code 4: not converged or not solvable, and no program was written. 3: a file is missing, malformed, cannot be
written, or is there already.)";

}  // namespace

void add_generate_solver(CLI::App &parent, Action &action) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App *app = parent.add_subcommand("generate-solver", "Write a program that solves A x = b as is fastest here");
  add_matrix_source(*app, options->source);
  app->add_option("--rhs", options->rhs, "b: Matrix Market file with one column; default b = A * ones")
      ->type_name("FILE");
  app->add_option("-o,--output", options->directory, "Folder to write; made where it is not there")
      ->required()
      ->type_name("DIR");
  app->add_option("--language", options->language, "c or fortran")
      ->capture_default_str()
      ->check(one_of({"c", "fortran"}));
  app->add_flag("--force", options->force, "Replace a program that is there already");
  app->add_flag("--json", options->json, "The report as JSON");
  add_events(*app, options->events);
  const std::string group = "Choices (the model makes those you leave out)";
  add_choices(*app, *options, group);
  options->setup.add(*app, group);
  add_stopping(*app, *options, "Stopping");
  add_context_options(*app, options->context);
  app->footer(generate_solver_footer);
  app->callback([options, &action] { action = [options] { return generate_solver(*options); }; });
}

}  // namespace tool
