// SPDX-License-Identifier: BSD-3-Clause
// sextant hermitian: files with one Hermitian (or symmetric) matrix each, factored and solved as one set.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>

#include "commands/command.hpp"
#include "input/context_options.hpp"
#include "input/hints.hpp"
#include "input/matrix_input.hpp"
#include "input/numbers.hpp"
#include "report/explanation.hpp"
#include "report/table.hpp"
#include "report/waiting.hpp"

namespace tool {
namespace {

using Complex = std::complex<double>;
using HermitianHandle = std::unique_ptr<sxt_hermitian, Destroyer<sxt_hermitian_destroy>>;

struct HermitianOptions {
  ContextOptions context;
  std::vector<std::string> matrices;
  std::string definiteness = "try";
  std::vector<double> shifts;
  double symmetry_tolerance = 0;
  int refine = 2;
  bool relative = false, equilibrate = false, json = false;
};

// All systems as dense complex matrices behind pointers, with b = A ones.
struct Systems {
  std::vector<std::vector<Complex>> a, b;
  std::vector<std::int32_t> orders;
  std::int64_t n_max = 0;

  void add(const LoadedMatrix &matrix, double symmetry_tolerance) {
    const std::int64_t n = matrix.info.rows;
    if (n != matrix.info.cols) fail(exit_not_solved, "{} is {} x {}, not square", matrix.path, n, matrix.info.cols);
    if (n > 30000) fail(exit_not_solved, "{} has order {}: as a dense matrix that is too large here", matrix.path, n);
    std::vector<Complex> dense(static_cast<std::size_t>(n * n));
    const void *row_ptr = nullptr, *col = nullptr, *values = nullptr;
    check(sxt_matrix_get_csr(matrix.handle.get(), &row_ptr, &col, &values), nullptr);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = offset(matrix, row_ptr, i); k < offset(matrix, row_ptr, i + 1); ++k)
        dense[static_cast<std::size_t>(i + index(matrix, col, k) * n)] = value(matrix, values, k);
    make_hermitian(matrix.path, dense, n, symmetry_tolerance);
    std::vector<Complex> ones(static_cast<std::size_t>(n));
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) ones[i] += dense[i + j * n];
    a.push_back(std::move(dense));
    b.push_back(std::move(ones));
    orders.push_back(static_cast<std::int32_t>(n));
    n_max = std::max(n_max, n);
  }

 private:
  // Mirror images that differ by no more than the tolerance become their mean, as in sxt_pcg_options.
  static void make_hermitian(const std::string &path, std::vector<Complex> &dense, std::int64_t n, double asked) {
    constexpr double unit = std::numeric_limits<double>::epsilon(), units = 256;
    const double relative = asked > 0 ? asked : units * unit;
    std::vector<double> root(static_cast<std::size_t>(n)), sum(root.size());
    for (std::int64_t j = 0; j < n; ++j) {
      root[j] = std::sqrt(std::abs(dense[j + j * n]));
      for (std::int64_t i = 0; i < n; ++i) sum[j] += std::abs(dense[i + j * n]);
    }
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i <= j; ++i) {
        Complex &a = dense[i + j * n], &mirror = dense[j + i * n];
        const double apart = std::abs(a - std::conj(mirror));
        const double scale = std::max({root[i] * root[j], std::abs(a), std::abs(mirror)});
        const bool rounding = asked == 0 && apart <= unit * std::min(sum[i], sum[j]);
        if (!(apart <= relative * scale) && !rounding && i == j)
          fail(exit_not_solved,
               "{} is not Hermitian: the diagonal entry ({}, {}) is not real: its imaginary part is {}", path, j + 1,
               j + 1, a.imag());
        if (!(apart <= relative * scale) && !rounding)
          fail(exit_not_solved,
               "{} is not Hermitian: entries ({}, {}) and ({}, {}) are not conjugate: they differ by {}", path, i + 1,
               j + 1, j + 1, i + 1, apart);
        a = 0.5 * a + 0.5 * std::conj(mirror);
        mirror = std::conj(a);
      }
  }
  static std::int64_t offset(const LoadedMatrix &m, const void *p, std::int64_t i) {
    return m.info.offset_type == SXT_I32 ? static_cast<const std::int32_t *>(p)[i]
                                         : static_cast<const std::int64_t *>(p)[i];
  }
  static std::int64_t index(const LoadedMatrix &m, const void *p, std::int64_t i) {
    return m.info.index_type == SXT_I32 ? static_cast<const std::int32_t *>(p)[i]
                                        : static_cast<const std::int64_t *>(p)[i];
  }
  static Complex value(const LoadedMatrix &m, const void *p, std::int64_t i) {
    switch (m.info.value_type) {
      case SXT_F32: return static_cast<const float *>(p)[i];
      case SXT_F64: return static_cast<const double *>(p)[i];
      case SXT_C64: return static_cast<const std::complex<float> *>(p)[i];
      default: return static_cast<const Complex *>(p)[i];
    }
  }
};

// The library's result for each system.
struct Answers {
  std::vector<std::int32_t> info, inertia, pivots;
  std::vector<double> residual, rcond, shift;
  explicit Answers(const Systems &systems)
      : info(systems.orders.size()),
        inertia(3 * info.size()),
        pivots(info.size() * static_cast<std::size_t>(std::max<std::int64_t>(1, systems.n_max))),
        residual(info.size(), NAN),
        rcond(info.size(), NAN),
        shift(info.size()) {}
};

std::string info_text(std::int32_t info, bool definite) {
  if (info == 0) return "done";
  if (info > 0) return fmt::format("{} {}", definite ? "not definite: leading minor" : "singular: block", info);
  return info == SXT_INFO_NOT_FINITE ? "NaN or infinity" : fmt::format("code {}", info);
}

HermitianHandle describe_systems(sxt_context *context, const HermitianOptions &options, const Systems &systems) {
  sxt_hermitian_options native;
  sxt_hermitian_options_init(&native, sizeof native);
  native.value_type = SXT_C128;
  native.definiteness = options.definiteness == "definite"     ? SXT_DEFINITE
                        : options.definiteness == "indefinite" ? SXT_INDEFINITE
                                                               : SXT_TRY_DEFINITE;
  native.space = SXT_SPACE_HOST;
  native.batch = static_cast<std::int64_t>(systems.orders.size());
  native.n = systems.n_max;
  native.orders = systems.orders.data();
  native.pointer_array = native.leading_vary = 1;
  native.equilibrate = options.equilibrate;
  native.refine_steps = options.refine;
  native.shifts = options.shifts.data();
  native.n_shifts = static_cast<std::int64_t>(options.shifts.size());
  native.shift_relative = options.relative;
  sxt_hermitian *made = nullptr;
  check(sxt_hermitian_create(context, &native, &made), context);
  return HermitianHandle(made);
}

void solve_systems(sxt_context *context, sxt_hermitian *hermitian, Systems &systems, Answers &answers) {
  std::vector<void *> a, b;
  std::vector<std::int64_t> ld;
  for (std::size_t s = 0; s < systems.orders.size(); ++s) {
    a.push_back(systems.a[s].data());
    b.push_back(systems.b[s].data());
    ld.push_back(std::max(1, systems.orders[s]));
  }
  sxt_hermitian_set set;
  sxt_hermitian_set_init(&set, sizeof set);
  set.a_array = a.data();
  set.b_array = b.data();
  set.lda_each = set.ldb_each = ld.data();
  set.info = answers.info.data();
  set.pivots = answers.pivots.data();
  set.inertia = answers.inertia.data();
  set.residual = answers.residual.data();
  set.rcond = answers.rcond.data();
  set.shift = answers.shift.data();
  check(sxt_hermitian_factor_solve(hermitian, &set), context);
}

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

int hermitian(const HermitianOptions &options) {
  const Context context = open_context(options.context);
  Systems systems;
  for (const std::string &path : options.matrices) {
    const Waiting waiting = reading(path, options.context);
    systems.add(read_matrix(context.get(), path, options.symmetry_tolerance), options.symmetry_tolerance);
  }
  Answers answers(systems);
  const HermitianHandle handle = describe_systems(context.get(), options, systems);
  sxt_hermitian_report report{};
  report.struct_size = sizeof report;
  check(sxt_hermitian_get_report(handle.get(), &report), context.get());
  {
    const Waiting waiting("solving", options.context, predicted(report.predicted_factor_solve_s));
    solve_systems(context.get(), handle.get(), systems, answers);
  }
  check(sxt_hermitian_get_report(handle.get(), &report), context.get());
  Table table({{"system"},
               {"order", true},
               {"answer"},
               {"residual", true},
               {"rcond", true},
               {"inertia", true},
               {"shift", true}});
  Json rows = Json::array();
  int failed = 0;
  for (std::size_t s = 0; s < systems.orders.size(); ++s) {
    const std::int32_t *signs = &answers.inertia[3 * s];
    const std::string answer = info_text(answers.info[s], options.definiteness == "definite");
    failed += answers.info[s] != 0;
    // A singular system has an inertia, too; a definite set that failed was not factored to its end.
    const bool known = answers.info[s] == 0 || (answers.info[s] > 0 && options.definiteness != "definite");
    const std::string inertia = known ? fmt::format("{}+ {}- {}0", signs[0], signs[1], signs[2]) : "-";
    table.add({options.matrices[s], count_text(systems.orders[s]), answer, fmt::format("{:.1e}", answers.residual[s]),
               fmt::format("{:.1e}", answers.rcond[s]), inertia, fmt::format("{:.3g}", answers.shift[s])});
    rows.push_back({{"path", options.matrices[s]},
                    {"order", systems.orders[s]},
                    {"info", answers.info[s]},
                    {"answer", answer},
                    {"residual", json_number(answers.residual[s])},
                    {"rcond", json_number(answers.rcond[s])},
                    {"inertia", known ? Json({signs[0], signs[1], signs[2]}) : Json()},
                    {"shift", answers.shift[s]}});
  }
  if (options.json) {
    print_json({{"systems", rows},
                {"factor_kernel", report.factor_kernel},
                {"solve_kernel", report.solve_kernel},
                {"pivoting_kernel", report.pivoting_kernel},
                {"workspace_bytes", report.workspace_bytes}});
  } else {
    print_text(table.text());
    print("factored by {}{}{}, solved by {}, {} of work memory\n", report.factor_kernel,
          report.pivoting_kernel[0] ? ", then " : "", report.pivoting_kernel, report.solve_kernel,
          bytes_text(static_cast<double>(report.workspace_bytes)));
  }
  return failed ? exit_not_solved : exit_done;
}

constexpr const char *hermitian_footer =
    R"(Every file is one system of the set, with b = A * ones. The residual is |b - A x| / (|A| |x| + |b|) in the largest norm,
rcond an estimate of the reciprocal condition number, inertia the number of positive, negative and zero eigenvalues.
Examples:
  sextant hermitian A.mtx B.mtx C.mtx
  sextant hermitian *.mtx --definiteness definite --shift 0,1e-8,1e-4 --relative --json
Exit code 4: some system was not solved, and the others were; or a file holds no Hermitian matrix.)";

}  // namespace

void add_hermitian(CLI::App &parent, Action &action) {
  auto options = std::make_shared<HermitianOptions>();
  CLI::App *app = parent.add_subcommand("hermitian", "Solve a set of dense Hermitian systems at once");
  app->add_option("matrices", options->matrices, "Matrix Market or Harwell-Boeing files, plain or .gz")
      ->type_name("MATRIX.mtx")
      ->required();
  add_file_options(*app);
  app->add_option("--definiteness", options->definiteness, "definite, indefinite, or try definite first")
      ->capture_default_str()
      ->check(one_of({"definite", "indefinite", "try"}));
  app->add_option("--shift", options->shifts, "Added to the diagonal; further ones are tried on systems that fail")
      ->delimiter(',')
      ->allow_extra_args(false);
  app->add_flag("--relative", options->relative, "Shifts are multiples of the mean diagonal");
  app->add_flag("--equilibrate", options->equilibrate, "Scale rows and columns first");
  app->add_option("--refine", options->refine, "Steps of iterative refinement at most")
      ->capture_default_str()
      ->check(CLI::Range(0, 100));
  app->add_option("--symmetry-tolerance", options->symmetry_tolerance,
                  "How far a_ij and conj(a_ji) may lie apart, over sqrt(|a_ii a_jj|); 0: as far as rounding explains")
      ->capture_default_str()
      ->check(number_from_zero());
  app->add_flag("--json", options->json, "Everything as JSON");
  add_context_options(*app, options->context);
  app->footer(hermitian_footer);
  app->callback([options, &action] { action = [options] { return hermitian(*options); }; });
}

}  // namespace tool
