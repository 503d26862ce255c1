// SPDX-License-Identifier: BSD-3-Clause
// The options of `sextant bench hermitian`.
#include <memory>
#include <string>
#include <vector>

#include "bench/hermitian/hermitian.hpp"
#include "input/hints.hpp"
#include "input/numbers.hpp"

namespace tool {
namespace {

constexpr const char *help_footer =
    R"(The library's choice (*) is compared with LAPACK, one system a thread, or with cuSOLVER's and cuBLAS' batches; --peers and
--verbose show every kernel that is not predicted to be ten times slower. Each answer's backward error is checked before it
is timed; kernels take turns, medians are shown. pred/meas leaves out what a call on a device and its wait take
beside the work (call_seconds of the JSON). extra_bytes of the JSON are what a call asks for beside the set.
Examples:
  sextant bench hermitian --type f64 --n 32,64,128 --threads 2
  sextant bench hermitian --device cuda --peers --phase factor
  sextant bench hermitian --device cuda --sweep --phase factor --svg sweep.svg --json > sweep.json
  sextant bench hermitian --device cuda --n 350,700,1700 --phase factor --cpu-thread
  sextant bench hermitian --device cuda --n 40,200,600 --systems 1,100,300 --predictions
  sextant bench hermitian --device cuda --mixed 100,900 --definiteness definite,indefinite
  sextant bench hermitian --structure toeplitz --shortcuts toeplitz --n 350 --phase factor-solve
  sextant bench hermitian --device cuda --definiteness indefinite --shortcuts butterfly --n 350 --phase factor-solve
Exit code 4: a kernel failed, or its answer is wrong.)";

void add_options(CLI::App *app, HermitianBenchOptions &options) {
  app->add_option("--n", options.sizes, "Orders")->delimiter(',')->allow_extra_args(false)->check(CLI::Range(1, 20000));
  app->add_flag("--sweep", options.sweep, "Orders 16, 32, ... 2048, each compared with the adjacent ones");
  app->add_option("--mixed", options.mixed, "Orders at random between these two, and a uniform set of as many flops")
      ->delimiter(',')
      ->expected(2)
      ->check(CLI::Range(1, 20000));
  app->add_option("--systems", options.systems, "Systems in a set; default 1000 on a GPU, by the order on the CPU")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(whole_number_from<std::int64_t>(1));
  app->add_flag("--predictions", options.predictions,
                "How far predictions of the choice are off; other libraries are not measured");
  app->add_option("--rhs", options.n_rhs, "Right-hand sides a system")
      ->capture_default_str()
      ->check(whole_number_from<std::int64_t>(1));
  app->add_option("--type", options.type, "Value type")->capture_default_str()->check(one_of(hermitian_names("type")));
  const auto list = [&](const char *name, std::vector<std::string> &values, const char *help, const char *what) {
    app->add_option(name, values, help)->delimiter(',')->allow_extra_args(false)->check(one_of(hermitian_names(what)));
  };
  list("--phase", options.phases, "What is timed; default all", "phase");
  list("--definiteness", options.definiteness, "What is known of the systems; default definite", "definiteness");
  list("--shortcuts", options.shortcuts, "Alternatives to a whole factorisation that the choice may take", "shortcut");
  app->add_option("--triangle", options.triangle, "The triangle that is read")
      ->capture_default_str()
      ->check(one_of({"lower", "upper"}));
  app->add_option("--structure", options.structure, "Of the matrices")
      ->capture_default_str()
      ->check(one_of({"none", "toeplitz"}));
  app->add_option("--kernel", options.kernel, "Measure this kernel, too");
  app->add_option("--repeat", options.repeat, "Samples of each kernel, at most")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app->add_option("--seconds", options.seconds, "For all of it, about; default 40 on a GPU, no end on the CPU")
      ->check(positive_number());
  app->add_flag("--cpu-thread", options.cpu_thread,
                "Also LAPACK on one CPU thread: some of the systems, scaled to all");
  app->add_option("--svg", options.svg, "Draw the sweep")->type_name("FILE");
}

// Checks beyond the parser: options that have no effect together with others.
void check_usage(const HermitianBenchOptions &options) {
  if (!options.svg.empty() && !options.sweep) fail(exit_usage, "--svg draws a sweep: it needs --sweep");
  if (options.mixed.empty()) return;
  if (options.mixed[0] > options.mixed[1])
    fail(exit_usage, "--mixed: {} is above {}", options.mixed[0], options.mixed[1]);
  if (!options.sizes.empty()) fail(exit_usage, "--n and --mixed exclude each other");
  if (options.sweep) fail(exit_usage, "--sweep and --mixed exclude each other");
  if (options.systems.size() > 1)
    fail(exit_usage, "--mixed takes one number of --systems, not {}", options.systems.size());
}

}  // namespace

void add_bench_hermitian(CLI::App &parent, Action &action) {
  auto options = std::make_shared<HermitianBenchOptions>();
  CLI::App *app = parent.add_subcommand("hermitian", "Sets of Hermitian systems: factor, solve, both");
  options->repeat = 7;
  add_options(app, *options);
  app->add_flag("--peers{all}", options->peers.names, "Show every kernel, others' too");
  app->add_flag("--json", options->json, "The rows as JSON");
  app->add_option("--markdown", options->markdown, "Also write the table as a section of a document")
      ->type_name("FILE");
  app->add_flag("-v,--verbose", options->verbose, "Every kernel, and why others were left out");
  add_context_options(*app, options->context);
  app->footer(help_footer);
  app->callback([options, &action] {
    action = [options] {
      if (options->context.device == "auto") options->context.device = "cpu";
      check_usage(*options);
      return bench_hermitian(*options);
    };
  });
}

}  // namespace tool
