// SPDX-License-Identifier: BSD-3-Clause
// sextant bench: the command line of the suites.
#include "bench/bench.hpp"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>

#include "bench/device/device.hpp"
#include "commands/command.hpp"
#include "input/hints.hpp"
#include "input/matrix_input.hpp"
#include "input/numbers.hpp"

namespace tool {
namespace {

constexpr const char *bench_footer =
    R"(Each kernel that applies is forced in turn, next to the library's own choice ("choice"), to "textbook", the plain
single-threaded loop of a textbook, and with --peers to other libraries on as many threads, all in this process; samples
alternate. A result is first compared with the textbook's, and measured only when it agrees. time is the median of
--repeat samples, spread their interquartile range over the median, a ratio the peer's time over the kernel's, pred/meas
the model's prediction over the measurement. GB/s counts the least traffic the operation can have, bound is the share of
the triad's bandwidth reached on the kernel's own storage (docs/command.md).
Examples:
  sextant bench spmv A.mtx B.mtx --threads 2
  sextant bench spmv --peers=mkl,eigen --peer-path ~/venv --generate stencil-27pt --n 1000000
  sextant bench vector --n 1000,1000000 --json
Exit code 4: a kernel failed, or its answer differs from the textbook's.)";

using Suite = int (*)(const BenchOptions &);

// As the user typed it, with the program's bare name.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!text.empty() && text.back() == '\0') text.pop_back();
  const std::size_t end = text.find('\0');
  text.replace(0, end == std::string::npos ? text.size() : end, "sextant");
  for (char &c : text) c = c == '\0' ? ' ' : c;
  return text;
}

// Paths, one a line.
void read_list(const std::string &path, std::vector<std::string> &matrices) {
  std::ifstream file(path);
  if (!file) fail(exit_bad_input, "--list: {} cannot be read", path);
  std::size_t most = std::size_t{16} << 20;  // an endless file is not a list
  std::string line;
  const auto end_line = [&] {
    if (!line.empty()) matrices.push_back(std::exchange(line, {}));
  };
  for (char c = 0; file.get(c);) {
    if (most-- == 0) fail(exit_bad_input, "--list: {} is longer than 16 MiB, too long for a list of paths", path);
    if (c == '\n')
      end_line();
    else
      line += c;
  }
  end_line();
  if (matrices.empty()) fail(exit_bad_input, "--list: {} names no matrix", path);
}

void add_matrix_options(CLI::App &app, const std::shared_ptr<BenchOptions> &options) {
  app.add_option("matrices", options->matrices, "Matrix Market files; none: generated matrices")
      ->type_name("MATRIX.mtx");
  app.add_option_function<std::string>(
         "--list", [options](const std::string &path) { read_list(path, options->matrices); },
         "A file with the paths of further matrices, one a line")
      ->type_name("FILE");
  add_file_options(app);
  app.add_option("--generate", options->generate, generate_help);
}

void add_peer_options(CLI::App &app, const std::shared_ptr<BenchOptions> &options, bool products) {
  const std::string group = "Other libraries";
  app.add_flag("--peers{all}", options->peers.names,
               "Compare with other libraries: all that are there, or those named in --peers=mkl,eigen; none: only "
               "objects named with --peer-path")
      ->group(group);
  app.add_option("--peer-path", options->peers.paths,
                 "A folder to search for their libraries before $SEXTANT_PEER_PATH, or a peer object; may be repeated")
      ->group(group)
      ->allow_extra_args(false);
  app.add_option("--triad", options->triad, "Take this bandwidth, in GB/s, for the triad's; default: measure it")
      ->group(group)
      ->check(number_from_zero());
  if (!products) return;
  app.add_flag("--tune-peers", options->peers.tune, "Let peers that can search for a better storage do so")
      ->group(group);
}

void add_pcg_options(CLI::App &app, const std::shared_ptr<BenchOptions> &options) {
  app.add_option("--max-iterations", options->max_iterations, "Iterations of one solve at most")
      ->capture_default_str()
      ->check(whole_number_from<std::int64_t>(1));
  app.add_option("--rtol", options->rtol, "Relative residual at which a solve ends")
      ->capture_default_str()
      ->check(number_from_zero());
  app.add_flag("--plans", options->plans, "On a GPU: every engine with every storage and preconditioner");
  app.add_option("--plan-seconds", options->plan_seconds,
                 "With --plans: start no further plan after this many seconds; the rest are listed")
      ->check(number_from_zero());
  app.add_option("--engines", options->engines, "On a GPU: these engines alone beside the choice")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void add_cholesky_options(CLI::App &app, const std::shared_ptr<BenchOptions> &options) {
  app.add_option("--phase", options->phase, "What is measured: analysis, factor or solve")
      ->capture_default_str()
      ->check(one_of(std::vector<std::string>{"analysis", "factor", "solve"}));
  app.add_option("--n-rhs", options->n_rhs, "Right-hand sides of a solve")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 16));
}

// Suites that have a separate form for GPUs use it there.
int on_device(const BenchOptions &options, Suite suite) {
  if (options.plan_seconds > 0 && !options.plans) fail(exit_usage, "--plan-seconds needs --plans");
  if (options.context.device != "cpu") {
    if (suite == bench_reduction) return bench_device_reduction(options);
    if (suite == bench_vector) return bench_device_vector(options);
    if (suite == bench_spmv) return bench_device_spmv(options);
    if (suite == bench_pcg) return bench_device_pcg(options);
    if (suite == bench_cholesky)
      fail(exit_usage, "cholesky is measured on the CPU: gpu_cholesky_tables does it on a GPU");
    return bench_device_dispatch(options);
  }
  if (!options.svg.empty() || !options.operations.empty() || !options.types.empty())
    fail(exit_usage, "--svg, --op and --type are for a GPU: --device cuda");
  if (options.plans || options.plan_seconds > 0 || !options.engines.empty())
    fail(exit_usage, "--plans, --plan-seconds and --engines are for a GPU: --device cuda");
  return suite(options);
}

void add_suite(CLI::App &parent, const char *name, const char *text, bool matrices, Suite suite, Action &action) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App *app = parent.add_subcommand(name, text);
  if (matrices) add_matrix_options(*app, options);
  app->add_option("--n", options->sizes, matrices ? "Rows of the generated matrices" : "Lengths of the vectors")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(std::int64_t{4}, std::int64_t{1} << 28));
  app->add_option("--repeat", options->repeat, "Samples of each kernel; on a GPU a few by default")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  if (suite == bench_pcg) add_pcg_options(*app, options);
  if (suite == bench_cholesky) add_cholesky_options(*app, options);
  if (suite == bench_reduction || suite == bench_vector) {
    const std::string group = "On a GPU";
    app->add_option("--op", options->operations, "These operations alone")
        ->group(group)
        ->delimiter(',')
        ->allow_extra_args(false);
    app->add_option("--type", options->types, "These value types alone")
        ->group(group)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(one_of(std::vector<std::string>{"f32", "f64"}));
    if (suite == bench_reduction)
      app->add_option("--svg", options->svg, "Draw bandwidth over n into FILE.svg, the steps into FILE-steps.svg")
          ->group(group)
          ->type_name("FILE.svg");
  }
  app->add_flag("--json", options->json, "The rows as JSON");
  app->add_option("--markdown", options->markdown, "Also write the results as a section of a document")
      ->type_name("FILE");
  app->add_flag("-v,--verbose", options->verbose, "Say why kernels were left out");
  if (suite != bench_dispatch) add_peer_options(*app, options, suite == bench_spmv);
  add_context_options(*app, options->context);
  app->footer(bench_footer);
  app->callback([app, options, suite, &action] {
    options->repeat_given = app->count("--repeat") > 0;
    action = [options, suite] {
      if (options->context.device == "auto") options->context.device = "cpu";
      options->command_line = command_line();
      return on_device(*options, suite);
    };
  });
}

}  // namespace

void add_bench(CLI::App &parent, Action &action) {
  CLI::App *app = parent.add_subcommand("bench", "Measure every kernel that applies, next to its prediction");
  app->require_subcommand(0, 1);
  add_suite(*app, "spmv", "Sparse matrix times vector", true, bench_spmv, action);
  add_suite(*app, "vector", "Element-wise vector operations", false, bench_vector, action);
  add_suite(*app, "reduction", "Sums, dot products, norms", false, bench_reduction, action);
  add_suite(*app, "pcg", "Whole solves: every engine with every recurrence", true, bench_pcg, action);
  add_suite(*app, "cholesky", "Sparse direct solves: analysis, factorisation or solve", true, bench_cholesky, action);
  add_bench_hermitian(*app, action);
  add_suite(*app, "dispatch", "What a call costs over the kernel it ends in, on one element", false, bench_dispatch,
            action);
}

}  // namespace tool
