// SPDX-License-Identifier: BSD-3-Clause
// The sextant command: parses, runs one subcommand, and turns every failure into a sentence and an exit code.
#include <exception>
#include <new>

#include "commands/command.hpp"
#include "input/hints.hpp"
#include "report/error.hpp"
#include "report/output.hpp"

namespace {

constexpr const char *help_footer = R"(Examples:
  sextant solve bcsstk16.mtx.gz                 solve A x = b with a random b, and say how
  sextant solve A.mtx --rhs b.mtx -o x.mtx      a right-hand side of yours, the solution into a file
  sextant explain A.mtx                         every candidate kernel: predicted cost, chosen or why not
  sextant generate-solver A.mtx -o solver       a program in C or Fortran that solves it as is fastest here
  sextant convert A.mtx A.rb                    a matrix into another file format
  sextant calibrate                             measure this machine, so that predictions are its own
  sextant workbench                             a page that measures, fits, explains and generates
  sextant report A.mtx -o report.html           what the page shows, in one file
  sextant retune -- ./program args              a CUDA program with better block sizes, where that is provably safe
  sextant verify-model A.mtx B.mtx              are the predictions right, and the choices good?
  sextant plugins                               what is loaded, and what was refused
  sextant bench spmv A.mtx                      every kernel measured against a textbook loop
  sextant plugin new spmv mine                  a folder with a kernel that works, to be changed
  sextant plugin check ./libmine.so             a plugin of yours through the tests of its kinds

Data goes to stdout, messages and progress to stderr; --json gives data that scripts can read.

Exit codes:
  0 done   2 usage   3 bad input or output   4 not converged or not solvable
  5 device failed, absent or out of memory   6 plugin refused   1 an internal error

Environment:
  SEXTANT_PLUGIN_PATH  more plugin directories, separated by ':'
  SEXTANT_FORCE        kernels chosen by hand: "sxt.spmv/1=spmv.csr.rows.cpu"
  SEXTANT_PROFILE      the machine profile (TOML)
  SEXTANT_RACE         candidates that race on the real matrix, and seconds: "3" or "3:0.2"
  SEXTANT_FEEDBACK     1: measured runs correct later choices
  SEXTANT_BSR_BLOCK    edge of the blocks of storage BSR, 2 to 8
  SEXTANT_PEER_PATH    folders in which bench --peers looks for other libraries
  NO_COLOR             set and not empty: no colours)";

// Prints the sentence of the failure on its way and returns its exit code.
int report_failure() {
  try {
    throw;
  } catch (const tool::ToolError &error) {
    tool::message(error.what());
    return error.exit_code();
  } catch (const std::bad_alloc &) {
    tool::message("memory could not be allocated");
    return tool::exit_device;
  } catch (const std::exception &error) {
    tool::message(fmt::format("internal error: {}", error.what()));
    return tool::exit_internal;
  }
}

int print_version() {
  tool::print("sextant {}\n", sxt_version_string());
  return tool::exit_done;
}

int run(int argc, char **argv) {
  CLI::App app(
      "Sextant predicts what each of its kernels would cost on your matrix and machine, takes the cheapest, "
      "and says why.",
      "sextant");
  app.set_version_flag("-V,--version", fmt::format("sextant {}", sxt_version_string()), "Print the version and exit");
  app.require_subcommand(0, 1);  // none is noticed below, so that a misspelt one is named first
  app.get_formatter()->column_width(34);

  tool::Action action;
  tool::add_solve(app, action);
  tool::add_explain(app, action);
  tool::add_generate_solver(app, action);
  tool::add_convert(app, action);
  tool::add_verify_model(app, action);
  tool::add_plugins(app, action);
  tool::add_hermitian(app, action);
  tool::add_bench(app, action);
  tool::add_calibrate(app, action);
  tool::add_machine(app, action);
  tool::add_model(app, action);
  tool::add_report(app, action);
  tool::add_workbench(app, action);
  tool::add_retune(app, action);
  tool::add_plugin_check(app, {argv, argv + argc}, action);
  tool::add_completion(app, action);
  tool::add_manual(app, action);
  app.add_subcommand("version", "Print the version and exit")->callback([&action] { action = print_version; });
  app.footer(help_footer);  // after the subcommands, which would begin with it
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // Help and version are data and leave with 0; every other message of the parser is a usage error.
    if (error.get_exit_code() != 0) {
      const std::string meant = tool::hint(app, {argv, argv + argc});
      tool::message(fmt::format("{}\nRun with --help for what is possible.", meant.empty() ? error.what() : meant));
      return tool::exit_usage;
    }
    app.exit(error);
    tool::finish_stdout();
    return tool::exit_done;
  }
  if (!action) tool::fail(tool::exit_usage, "a subcommand is required\nRun with --help for what is possible.");
  const int code = action();
  tool::finish_stdout();
  return code;
}

}  // namespace

int main(int argc, char **argv) {
  tool::guard_standard_streams();
  try {
    return run(argc, argv);
  } catch (...) {
    return report_failure();
  }
}
