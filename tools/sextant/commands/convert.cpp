// SPDX-License-Identifier: BSD-3-Clause
// sextant convert: a matrix from one file format into another.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <memory>

#include "commands/command.hpp"
#include "input/context_options.hpp"
#include "input/hints.hpp"
#include "input/matrix_view.hpp"
#include "input/standard_input.hpp"
#include "report/waiting.hpp"
#include "report/write_file.hpp"
#include "report/write_matrix.hpp"

namespace tool {
namespace {

struct ConvertOptions {
  ContextOptions context;
  std::string in, out, to;
  bool pattern = false, general = false;
};

MatrixFormat wanted_format(const ConvertOptions &options) {
  if (options.to.empty() && !is_standard_input(options.out)) return format_of_name(options.out);
  return options.to == "rb" ? MatrixFormat::rutherford_boeing : MatrixFormat::matrix_market;
}

// Other programs believe a name such as x.rsa.
void check_name(const ConvertOptions &options, MatrixFormat format, const MatrixView &a) {
  std::string name = options.out.substr(options.out.find_last_of('/') + 1);
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const std::string end = name.substr(name.find_last_of('.') + 1), type = boeing_type(a, options.pattern);
  if (format == MatrixFormat::rutherford_boeing && options.to.empty() && end.size() == 3 && end != type)
    fail(exit_usage, "{}: the matrix is of type {}: name it x.{} or x.rb", options.out, type, type);
}

// A stdout that was closed is held open for reading alone, and /dev/stdout would open what holds its place.
void check_standard_output() {
  const int flags = fcntl(STDOUT_FILENO, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) fail(exit_bad_input, "standard output is closed");
}

int convert(const ConvertOptions &options) {
  const MatrixFormat format = wanted_format(options);
  const std::string path = is_standard_input(options.out) ? "/dev/stdout" : options.out;
  if (is_standard_input(options.out)) check_standard_output();
  check_writable(path);
  const Context context = open_context(options.context);
  const LoadedMatrix matrix = [&] {
    const Waiting waiting = reading(options.in, options.context);
    return read_matrix(context.get(), options.in);
  }();
  MatrixView view = view_of(context.get(), matrix.handle.get(), matrix.info);
  if (options.general) view.symmetry = SXT_GENERAL;
  check_name(options, format, view);
  const Waiting waiting("writing " + options.out, options.context);
  write_matrix(path, format, view, options.pattern, options.in);
  return exit_done;
}

constexpr const char *convert_footer = R"(Examples:
  sextant convert A.mtx A.rb                 Rutherford-Boeing, from Matrix Market
  sextant convert A.rsa.gz A.mtx.gz          both compressed
  zcat A.mtx.gz | sextant convert - B.rb     from standard input
  sextant convert A.rua - | head             to standard output, as Matrix Market

Values keep every bit. Of a symmetric, Hermitian or skew-symmetric matrix one triangle is written, and the file says so.
Duplicates are summed. Integers become real numbers of the same value.)";

}  // namespace

void add_convert(CLI::App &parent, Action &action) {
  auto options = std::make_shared<ConvertOptions>();
  options->context.device = "cpu";  // files need no other
  CLI::App *app = parent.add_subcommand("convert", "A matrix from one file format into another");
  app->add_option("in", options->in,
                  "Matrix Market or Harwell-Boeing file, plain or .gz; -: standard input, Matrix Market")
      ->required()
      ->type_name("IN");
  app->add_option("out", options->out,
                  "The new file: .mtx, or .rb, .rua, .rsa, ..., with .gz or without; -: standard output")
      ->required()
      ->type_name("OUT");
  add_file_options(*app);
  app->add_option("--to", options->to, "The format, whatever OUT is called: mtx or rb")->check(one_of({"mtx", "rb"}));
  app->add_flag("--pattern", options->pattern, "Places alone, without values");
  app->add_flag("--general", options->general, "Every entry, though the matrix is symmetric");
  add_context_options(*app, options->context);
  app->footer(convert_footer);
  app->callback([options, &action] { action = [options] { return convert(*options); }; });
}

}  // namespace tool
