// SPDX-License-Identifier: BSD-3-Clause
// Every function of the C interface with a missing handle or pointer, options without meaning, or operands that
// overlap: SXT_E_ARGUMENT, a sentence that names the argument, and no other effect.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class BadArguments : public testing::Test {
 protected:
  struct Case {
    std::function<sxt_status()> call;
    std::string says;
  };
  void refused(const std::vector<Case> &cases, sxt_status expected = SXT_E_ARGUMENT) {
    for (const Case &each : cases) {
      SCOPED_TRACE(each.says);
      EXPECT_EQ(each.call(), expected);
      EXPECT_NE(std::string(sxt_last_error(nullptr)).find(each.says), std::string::npos) << sxt_last_error(nullptr);
    }
  }
  // The context of the call's object has the sentence, too.
  void refused_here(const std::vector<Case> &cases) {
    for (const Case &each : cases) {
      refused({{[] { return sxt_context_describe(nullptr, nullptr, 0, nullptr); }, "context is NULL"}});
      refused({each});
      EXPECT_NE(last_error(context).find(each.says), std::string::npos) << each.says << ": " << last_error(context);
    }
  }

  const Context context = cpu();
  sxt_context *const c = context.get();
  const Csr arrays = laplacian(3, 1);
  const Matrix matrix = arrays.matrix(context);
  sxt_matrix *const a = matrix.get();
  std::vector<double> xs = std::vector<double>(9, 1), ys = xs;
  const Vector vx = wrap(context, xs), vy = wrap(context, ys);
  sxt_vector *const x = vx.get(), *const y = vy.get();
  const Pcg pcg = make<Pcg>([this](sxt_pcg **out) { return sxt_pcg_create(a, nullptr, out); });
  const double one = 1;
  double number = 0;
  std::int64_t length = 0;
  char text[64] = "";
};

TEST_F(BadArguments, SwitchesAreZeroOrOne) {
  const auto with = [](auto options, auto init, auto set) {
    init(&options, sizeof options);
    set(options);
    return options;
  };
  sxt_context *context_out = nullptr;
  sxt_matrix *matrix_out = nullptr;
  sxt_pcg *pcg_out = nullptr;
  sxt_hermitian *hermitian_out = nullptr;
  for (const std::int32_t bad : {2, -1}) {
    const std::string says = " is " + std::to_string(bad) + ", neither 0 nor 1";
    const auto context_options =
        with(sxt_context_options{}, sxt_context_options_init, [&](auto &o) { o.deterministic = bad; });
    const auto order = with(sxt_matrix_options{}, sxt_matrix_options_init, [&](auto &o) { o.keep_order = bad; });
    const auto finite = with(sxt_matrix_options{}, sxt_matrix_options_init, [&](auto &o) { o.check_finite = bad; });
    const auto symmetry = with(sxt_pcg_options{}, sxt_pcg_options_init, [&](auto &o) { o.check_symmetry = bad; });
    const auto guess = with(sxt_solve_options{}, sxt_solve_options_init, [&](auto &o) { o.use_initial_guess = bad; });
    const auto quick = with(sxt_calibrate_options{}, sxt_calibrate_options_init, [&](auto &o) { o.quick = bad; });
    const auto references = with(sxt_verify_options{}, sxt_verify_options_init, [&](auto &o) { o.references = bad; });
    const auto spoil = with(sxt_hermitian_options{}, sxt_hermitian_options_init, [&](auto &o) { o.may_spoil = bad; });
    const auto from_csr = [&](const sxt_matrix_options &options) {
      return sxt_matrix_from_csr(c, arrays.rows, arrays.cols, arrays.ptr.data(), arrays.col.data(),
                                 arrays.values.data(), &options, &matrix_out);
    };
    refused(
        {{[&] { return sxt_context_create(&context_options, &context_out); }, "options->deterministic" + says},
         {[&] { return from_csr(order); }, "options->keep_order" + says},
         {[&] { return from_csr(finite); }, "options->check_finite" + says},
         {[&] { return sxt_matrix_from_file(c, "none.mtx", &finite, &matrix_out); }, "options->check_finite" + says},
         {[&] { return sxt_pcg_create(a, &symmetry, &pcg_out); }, "options->check_symmetry" + says},
         {[&] { return sxt_pcg_solve(pcg.get(), x, y, &guess, nullptr); }, "options->use_initial_guess" + says},
         {[&] { return sxt_calibrate(c, &quick, nullptr, 0, nullptr); }, "options->quick" + says},
         {[&] {
            return sxt_verify_model(
                a, &references, [](void *, const sxt_verify_line *) { return 1; }, nullptr);
          },
          "options->references" + says},
         {[&] { return sxt_hermitian_create(c, &spoil, &hermitian_out); }, "may_spoil" + says}});
  }
  const auto feedback = with(sxt_context_options{}, sxt_context_options_init, [](auto &o) { o.feedback = 2; });
  refused({{[&] { return sxt_context_create(&feedback, &context_out); }, "options->feedback is 2"}});
}

TEST_F(BadArguments, EmptyNamesAreErrors) {
  sxt_context_options context_options;
  sxt_context_options_init(&context_options, sizeof context_options);
  context_options.device = "";
  sxt_context *context_out = nullptr;
  refused({{[&] { return sxt_context_create(&context_options, &context_out); }, "options->device is empty"},
           {[&] { return sxt_context_force(c, SXT_KIND_SPMV, ""); }, "kernel is empty"}});
  for (const auto &[member, name] :
       {std::pair{&sxt_pcg_options::preconditioner, "preconditioner"},
        std::pair{&sxt_pcg_options::recurrence, "recurrence"}, std::pair{&sxt_pcg_options::engine, "engine"},
        std::pair{&sxt_pcg_options::format, "format"}}) {
    sxt_pcg_options options;
    sxt_pcg_options_init(&options, sizeof options);
    options.*member = "";
    sxt_pcg *out = nullptr;
    refused({{[&] { return sxt_pcg_create(a, &options, &out); },
              std::string("options->") + name + " is empty; NULL leaves it to the library"}});
  }
}

TEST_F(BadArguments, MisalignedArraysAreNamed) {
  alignas(8) char bytes[9 * 8 + 8] = "";
  void *const off = bytes + 4;
  double good[9] = {};
  const auto from_csr = [&](const void *row_ptr, const void *col, const void *values) {
    sxt_matrix *out = nullptr;
    return sxt_matrix_from_csr(c, 9, 9, row_ptr, col, values, nullptr, &out);
  };
  const void *const row_ptr = arrays.ptr.data(), *const col = arrays.col.data(), *const values = arrays.values.data();
  refused(
      {{[&] { return sxt_pcg_solve_array(pcg.get(), 9, off, good, nullptr, nullptr); }, "b is not aligned"},
       {[&] { return sxt_pcg_solve_array(pcg.get(), 9, good, off, nullptr, nullptr); }, "x is not aligned"},
       {[&] { return sxt_pcg_solve_block(pcg.get(), 9, 1, off, 9, good, 9, nullptr, nullptr); }, "b is not aligned"},
       {[&] { return sxt_pcg_solve_block(pcg.get(), 9, 1, good, 9, off, 9, nullptr, nullptr); }, "x is not aligned"},
       {[&] { return sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a, off, nullptr, good); }, "x is not aligned"},
       {[&] { return sxt_spmv_block(SXT_NO_TRANSPOSE, nullptr, a, 1, good, 9, nullptr, off, 9); }, "y is not aligned"},
       {[&] { return sxt_vector_write(x, off); }, "values is not aligned"},
       {[&] { return sxt_vector_read(x, off); }, "values is not aligned"},
       {[&] { return sxt_matrix_update_values(a, off, 1); }, "values is not aligned"},
       {[&] { return sxt_dot(x, y, off); }, "result is not aligned"},
       {[&] { return sxt_gather(x, bytes + 1, SXT_I32, y); }, "index is not aligned"},
       {[&] { return from_csr(bytes + 2, col, values); }, "row_ptr is not aligned"},
       {[&] { return from_csr(row_ptr, bytes + 2, values); }, "col is not aligned"},
       {[&] { return from_csr(row_ptr, col, off); }, "values is not aligned"}});
}

TEST_F(BadArguments, HandlesThatAreMissingAreNamed) {
  const sxt_spmv_query query = product_query(1);
  sxt_hermitian_set set;
  sxt_hermitian_set_init(&set, sizeof set);
  sxt_hermitian_report hermitian_report{};
  hermitian_report.struct_size = sizeof hermitian_report;
  const auto line = [](void *, const sxt_verify_line *) -> std::int32_t { return 0; };
  refused({{[&] { return sxt_context_describe(nullptr, text, 64, &length); }, "context is NULL"},
           {[&] { return sxt_context_set_stream(nullptr, nullptr); }, "context is NULL"},
           {[&] { return sxt_context_synchronize(nullptr); }, "context is NULL"},
           {[&] { return sxt_context_force(nullptr, SXT_KIND_SPMV, nullptr); }, "context is NULL"},
           {[&] { return sxt_plan_save(nullptr, "plan.toml"); }, "context is NULL"},
           {[&] { return sxt_plan_load(nullptr, "plan.toml", 0); }, "context is NULL"},
           {[&] { return sxt_plugin_check(nullptr, "x.so", 0, nullptr, nullptr); }, "context is NULL"},
           {[&] { return sxt_matrix_update_values(nullptr, &one, 1); }, "matrix is NULL"},
           {[&] { return sxt_matrix_get_csr(nullptr, nullptr, nullptr, nullptr); }, "matrix is NULL"},
           {[&] { return sxt_matrix_feature(nullptr, "row_nnz_max", &number); }, "matrix is NULL"},
           {[&] { return sxt_vector_write(nullptr, &one); }, "vector is NULL"},
           {[&] { return sxt_vector_read(nullptr, &number); }, "vector is NULL"},
           {[&] { return sxt_verify_model(nullptr, nullptr, line, nullptr); }, "matrix is NULL"},
           {[&] { return sxt_kernel_select(nullptr, &query.m.q, a, nullptr); }, "context is NULL"},
           {[&] { return sxt_kernel_run(nullptr, nullptr); }, "selection is NULL"},
           {[&] { return sxt_selection_cost(nullptr, &number, nullptr); }, "selection is NULL"},
           {[&] { return sxt_selection_explain(nullptr, SXT_TEXT, text, 64, nullptr); }, "selection is NULL"},
           {[&] { return sxt_pcg_create(nullptr, nullptr, nullptr); }, "a is NULL"},
           {[&] { return sxt_pcg_solve(nullptr, x, y, nullptr, nullptr); }, "pcg is NULL"},
           {[&] { return sxt_pcg_solve_block(nullptr, 9, 1, xs.data(), 9, ys.data(), 9, nullptr, nullptr); },
            "pcg is NULL"},
           {[&] { return sxt_pcg_explain(nullptr, SXT_TEXT, text, 64, nullptr); }, "pcg is NULL"},
           {[&] { return sxt_hermitian_create(nullptr, nullptr, nullptr); }, "context is NULL"},
           {[&] { return sxt_hermitian_solve(nullptr, &set); }, "hermitian is NULL"},
           {[&] { return sxt_hermitian_factor_solve(nullptr, &set); }, "hermitian is NULL"},
           {[&] { return sxt_hermitian_get_report(nullptr, &hermitian_report); }, "hermitian is NULL"},
           {[&] { return sxt_hermitian_explain(nullptr, SXT_TEXT, text, 64, nullptr); }, "hermitian is NULL"}});
}

TEST_F(BadArguments, PointersThatAreMissingAreNamedInTheContext) {
  const sxt_spmv_query query = product_query(1);
  const auto coo = [&](const void *row, const void *col, sxt_matrix **out) {
    return sxt_matrix_from_coo(c, 1, 1, 1, row, col, &one, nullptr, out);
  };
  sxt_matrix *made = nullptr;
  const std::int32_t zero[2] = {0, 1};
  refused_here({{[&] { return sxt_context_force(c, nullptr, nullptr); }, "kind is NULL"},
                {[&] { return sxt_plan_save(c, nullptr); }, "path is NULL"},
                {[&] { return sxt_plan_load(c, nullptr, 1); }, "path is NULL"},
                {[&] { return sxt_plugin_check(c, nullptr, 0, nullptr, nullptr); }, "path is NULL"},
                {[&] { return coo(zero, zero, nullptr); }, "matrix is NULL"},
                {[&] { return coo(zero, nullptr, &made); }, "col is NULL"},
                {[&] { return sxt_matrix_from_csr(c, 1, 1, nullptr, zero, &one, nullptr, &made); }, "row_ptr is NULL"},
                {[&] { return sxt_matrix_from_csc(c, 1, 1, nullptr, zero, &one, nullptr, &made); }, "col_ptr is NULL"},
                {[&] { return sxt_matrix_from_file(c, nullptr, nullptr, &made); }, "path is NULL"},
                {[&] { return sxt_matrix_update_values(a, nullptr, 33); }, "values is NULL"},
                {[&] { return sxt_matrix_get_info(a, nullptr); }, "info is NULL"},
                {[&] { return sxt_matrix_feature(a, nullptr, &number); }, "name is NULL"},
                {[&] { return sxt_matrix_feature(a, "row_nnz_max", nullptr); }, "value is NULL"},
                {[&] { return sxt_vector_create(c, 3, SXT_F64, nullptr); }, "vector is NULL"},
                {[&] { return sxt_vector_write(y, nullptr); }, "values is NULL"},
                {[&] { return sxt_vector_read(x, nullptr); }, "values is NULL"},
                {[&] { return sxt_spmv(SXT_NO_TRANSPOSE, nullptr, a, nullptr, nullptr, y); }, "x is NULL"},
                {[&] { return sxt_spmv(SXT_NO_TRANSPOSE, nullptr, a, x, nullptr, nullptr); }, "y is NULL"},
                {[&] { return sxt_copy(nullptr, y); }, "x is NULL"},
                {[&] { return sxt_fill(nullptr, y); }, "alpha is NULL"},
                {[&] { return sxt_scale(nullptr, y); }, "alpha is NULL"},
                {[&] { return sxt_axpy(&one, nullptr, y); }, "x is NULL"},
                {[&] { return sxt_axpby(&one, x, nullptr, y); }, "beta is NULL"},
                {[&] { return sxt_waxpby(&one, x, &one, nullptr, y); }, "y is NULL"},
                {[&] { return sxt_waxpby(&one, x, &one, x, nullptr); }, "w is NULL"},
                {[&] { return sxt_multiply(x, x, nullptr); }, "w is NULL"},
                {[&] { return sxt_gather(x, nullptr, SXT_I32, y); }, "index is NULL"},
                {[&] { return sxt_scatter(x, zero, SXT_I32, nullptr); }, "y is NULL"},
                {[&] { return sxt_sum(x, nullptr); }, "result is NULL"},
                {[&] { return sxt_dotc(x, nullptr, &number); }, "y is NULL"},
                {[&] { return sxt_kernel_select(c, nullptr, a, nullptr); }, "selection is NULL"},
                {[&] { return sxt_kernel_select(c, &query.m.q, nullptr, nullptr); }, "selection is NULL"},
                {[&] { return sxt_pcg_create(a, nullptr, nullptr); }, "pcg is NULL"},
                {[&] { return sxt_pcg_solve(pcg.get(), nullptr, y, nullptr, nullptr); }, "b is NULL"},
                {[&] { return sxt_pcg_solve(pcg.get(), x, nullptr, nullptr, nullptr); }, "x is NULL"},
                {[&] { return sxt_calibrate(c, nullptr, nullptr, 10, nullptr); }, "buffer is NULL"},
                {[&] { return sxt_context_describe(c, text, -1, nullptr); }, "capacity is negative"},
                {[&] { return sxt_hermitian_create(c, nullptr, nullptr); }, "options is NULL"}});
  EXPECT_EQ(made, nullptr);
}

TEST_F(BadArguments, OperandsThatOverlapAreRefused) {
  std::vector<double> room(18, 1);
  const auto part = [&](std::int64_t first, std::int64_t n) {
    return make<Vector>([&](sxt_vector **out) {
      return sxt_vector_wrap(c, n, SXT_F64, SXT_SPACE_HOST, &room[static_cast<std::size_t>(first)], out);
    });
  };
  const Vector low = part(0, 9), middle = part(4, 9), high = part(9, 9);
  const std::int32_t index[9] = {8, 7, 6, 5, 4, 3, 2, 1, 0};
  double *const at = room.data();
  refused({{[&] { return sxt_spmv(SXT_NO_TRANSPOSE, nullptr, a, low.get(), nullptr, middle.get()); }, "overlap"},
           {[&] { return sxt_spmv(SXT_NO_TRANSPOSE, nullptr, a, low.get(), nullptr, low.get()); }, "overlap"},
           {[&] { return sxt_gather(low.get(), index, SXT_I32, middle.get()); }, "x and y overlap"},
           {[&] { return sxt_scatter(low.get(), index, SXT_I32, low.get()); }, "x and y overlap"},
           {[&] { return sxt_gather(high.get(), at, SXT_I32, low.get()); }, "y and index overlap"},
           {[&] { return sxt_pcg_solve(pcg.get(), low.get(), middle.get(), nullptr, nullptr); }, "overlap"},
           {[&] { return sxt_pcg_solve_array(pcg.get(), 9, at, at + 8, nullptr, nullptr); }, "overlap"},
           {[&] { return sxt_pcg_solve_block(pcg.get(), 9, 1, at, 9, at + 8, 9, nullptr, nullptr); }, "overlap"}});
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, a, low.get(), nullptr, high.get()), SXT_OK);
  EXPECT_EQ(room[17], 3);  // 5 - 2 in a corner

  // Interleaved columns of b and x do not overlap; with unequal distances later ones may.
  std::vector<double> columns(100, 1);
  EXPECT_EQ(sxt_pcg_solve_block(pcg.get(), 9, 4, columns.data(), 18, &columns[9], 18, nullptr, nullptr), SXT_OK)
      << sxt_last_error(nullptr);
  const std::vector<double> before = columns;
  refused({{[&] { return sxt_pcg_solve_block(pcg.get(), 9, 3, &columns[0], 18, &columns[9], 20, nullptr, nullptr); },
            "overlap"}});
  EXPECT_EQ(columns, before);
}

TEST_F(BadArguments, OptionsWithoutMeaningAreNamed) {
  const auto matrix_with = [&](auto &&change) {
    sxt_matrix_options options = matrix_options();
    change(options);
    sxt_matrix *made = nullptr;
    return sxt_matrix_from_csr(c, 9, 9, arrays.ptr.data(), arrays.col.data(), arrays.values.data(), &options, &made);
  };
  const auto pcg_with = [&](auto &&change) {
    sxt_pcg_options options = pcg_options();
    change(options);
    sxt_pcg *made = nullptr;
    const sxt_status status = sxt_pcg_create(a, &options, &made);
    sxt_pcg_destroy(made);
    return status;
  };
  const auto solve_with = [&](auto &&change) {
    sxt_solve_options options = solve_options();
    change(options);
    return sxt_pcg_solve_array(pcg.get(), 9, xs.data(), ys.data(), &options, nullptr);
  };
  const auto context_with = [&](auto &&change) {
    sxt_context_options options = context_options();
    change(options);
    sxt_context *made = nullptr;
    return sxt_context_create(&options, &made);
  };
  refused({{[&] { return matrix_with([](auto &o) { o.triangle = 4; }); }, "triangle 4"},
           {[&] { return matrix_with([](auto &o) { o.duplicates = 2; }); }, "duplicates 2"},
           {[&] { return matrix_with([](auto &o) { o.ownership = -1; }); }, "ownership -1"},
           {[&] { return pcg_with([](auto &o) { o.atol = nan; }); }, "atol"},
           {[&] { return pcg_with([](auto &o) { o.divergence_limit = nan; }); }, "divergence_limit"},
           {[&] { return pcg_with([](auto &o) { o.divergence_limit = 0; }); }, "divergence_limit is 0"},
           {[&] { return pcg_with([](auto &o) { o.stagnation_window = -2; }); }, "stagnation_window"},
           {[&] { return pcg_with([](auto &o) { o.time_limit = nan; }); }, "time_limit"},
           {[&] { return pcg_with([](auto &o) { o.expected_solves = -1; }); }, "expected_solves is -1"},
           {[&] { return pcg_with([](auto &o) { o.expected_iterations = HUGE_VAL; }); }, "expected_iterations"},
           {[&] { return solve_with([](auto &o) { o.rtol = nan; }); }, "rtol"},
           {[&] { return solve_with([](auto &o) { o.atol = HUGE_VAL; }); }, "atol"},
           {[&] { return solve_with([](auto &o) { o.time_limit = nan; }); }, "time_limit"},
           {[&] { return solve_with([](auto &o) { o.max_iterations = -1; }); }, "max_iterations"},
           {[&] { return solve_with([](auto &o) { o.history_capacity = -1; }); }, "history_capacity"},
           {[&] { return context_with([](auto &o) { o.log_level = 6; }); }, "log_level 6"},
           {[&] { return context_with([](auto &o) { o.n_plugin_paths = 1; }); }, "plugin_paths"},
           {[&] { return context_with([](auto &o) { o.allocate = nullptr; }); }, "allocate"},
           {[&] { return context_with([](auto &o) { o.race_seconds = nan; }); }, "race_seconds"}});
  EXPECT_EQ(pcg_with([](auto &o) { o.divergence_limit = HUGE_VAL; }), SXT_OK);
}

TEST_F(BadArguments, AVectorOfNothingNeedsNoMemory) {
  for (const sxt_value_type type : {SXT_F32, SXT_F64, SXT_C64, SXT_C128}) {
    const Vector nothing =
        make<Vector>([&](sxt_vector **out) { return sxt_vector_wrap(c, 0, type, SXT_SPACE_HOST, nullptr, out); });
    EXPECT_EQ(sxt_vector_length(nothing.get()), 0);
  }
}

TEST_F(BadArguments, AFilesOptionsAreCheckedToo) {
  const std::string path = SEXTANT_TEST_DATA "/mm/reader/fmm__eye3.mtx.gz";
  sxt_matrix_options options = matrix_options();
  options.duplicates = 7;
  sxt_matrix *made = nullptr;
  refused_here({{[&] { return sxt_matrix_from_file(c, path.c_str(), &options, &made); }, "duplicates 7"}});
}

// An error that can be detected before a solve is not reported after it, when the answer would be lost.
TEST_F(BadArguments, AReportWithoutItsSizeIsRefusedBeforeTheSolve) {
  sxt_pcg_report report{};
  refused_here(
      {{[&] { return sxt_pcg_solve_array(pcg.get(), 9, ys.data(), xs.data(), nullptr, &report); }, "struct_size is 0"},
       {[&] { return sxt_pcg_solve(pcg.get(), y, x, nullptr, &report); }, "struct_size is 0"}});
  EXPECT_EQ(xs, std::vector<double>(9, 1));
}

// A caller's lines have the size from its header.
TEST_F(BadArguments, LinesOfAnotherLengthAreReadByTheirSize) {
  struct Longer {
    sxt_verify_line line;
    double more;
  };
  std::vector<Longer> lines(2);
  for (std::size_t i = 0; i < 2; ++i) {
    lines[i].line = sxt_verify_line{};
    lines[i].line.struct_size = sizeof(Longer);
    lines[i].line.predicted_run_s = lines[i].line.measured_run_s = i == 0 ? 2 : 1;
    lines[i].line.chosen = i == 0;
    lines[i].line.estimated = 1;
    lines[i].more = nan;
  }
  sxt_verify_summary summary{};
  summary.struct_size = sizeof summary;
  ASSERT_EQ(sxt_verify_summarise(&lines[0].line, 2, 1, &summary), SXT_OK) << sxt_last_error(nullptr);
  EXPECT_EQ(summary.candidates, 2);
  EXPECT_DOUBLE_EQ(summary.regret_max, 2);
  refused({{[&] { return sxt_verify_summarise(&lines[0].line, 2, HUGE_VAL, &summary); }, "applies"}});
  lines[0].line.struct_size = 0;
  refused({{[&] { return sxt_verify_summarise(&lines[0].line, 2, 1, &summary); }, "struct_size"}});
  sxt_verify_options options;
  sxt_verify_options_init(&options, sizeof options);
  options.op = 3;
  const auto line = [](void *, const sxt_verify_line *) -> std::int32_t { return 0; };
  refused({{[&] { return sxt_verify_model(a, &options, line, nullptr); }, "op 3"}});
}

}  // namespace
}  // namespace api_test
