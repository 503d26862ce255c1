// SPDX-License-Identifier: BSD-3-Clause
// Plugins of third parties in a context: wrong ones never compute anything, after a decline other kernels are used, and
// no context sees the plugins of another.
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "sextant/plugin/kinds/spmv.h"
#include "tests/api/cholesky_sets_support.hpp"
#include "tests/api/support.hpp"

namespace api_test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Log {
  std::vector<std::pair<sxt_log_level, std::string>> lines;
  bool warns_of(const std::string &words) const {
    for (const auto &[level, line] : lines)
      if (level == SXT_LOG_WARNING && line.find(words) != std::string::npos) return true;
    return false;
  }
};

std::string mock(const std::string &name) { return std::string(SEXTANT_MOCK_DIR) + "/" + name + ".so"; }

Context with(const std::vector<std::string> &plugins, Log *log = nullptr, bool deterministic = false) {
  sxt_context_options options = context_options();
  options.device = "cpu";
  options.threads = 2;
  options.deterministic = deterministic;
  std::vector<std::string> files;
  std::vector<const char *> paths;
  for (const std::string &name : plugins) files.push_back(mock(name));
  for (const std::string &file : files) paths.push_back(file.c_str());
  options.plugin_paths = paths.data();
  options.n_plugin_paths = paths.size();
  if (log) {
    options.log_level = SXT_LOG_DEBUG;
    options.log_user = log;
    options.log = [](void *user, sxt_log_level level, const char *message) {
      static_cast<Log *>(user)->lines.emplace_back(level, message);
    };
  }
  return make<Context>([&](sxt_context **out) { return sxt_context_create(&options, out); });
}

// Diagonally dominant, 400 unknowns.
struct Problem {
  std::vector<std::int32_t> ptr{0}, col;
  std::vector<double> values, b, x;
  explicit Problem(std::int32_t n = 400) : b(n, 1), x(n, 0) {
    for (std::int32_t i = 0; i < n; ++i) {
      for (const auto &[j, value] : {std::pair{i - 7, -.3}, {i - 1, -1.}, {i, 4.}, {i + 1, -1.}, {i + 7, -.3}})
        if (j >= 0 && j < n) col.push_back(j), values.push_back(value);
      ptr.push_back(static_cast<std::int32_t>(col.size()));
    }
  }
  Matrix matrix(const Context &context) const {
    const auto n = static_cast<std::int64_t>(b.size());
    return make<Matrix>([&](sxt_matrix **out) {
      return sxt_matrix_from_csr(context.get(), n, n, ptr.data(), col.data(), values.data(), nullptr, out);
    });
  }
  double worst(const std::vector<double> &got, const std::vector<double> &in) const {
    double most = 0;
    for (std::size_t i = 0; i + 1 < ptr.size(); ++i) {
      double sum = got[i];
      for (std::int32_t k = ptr[i]; k < ptr[i + 1]; ++k) sum -= values[k] * in[col[k]];
      most = std::fmax(most, std::fabs(sum));
    }
    return most;
  }
};

std::string chosen(const Context &context, const Matrix &matrix) {
  const sxt_spmv_query query = product_query(100);
  sxt_selection *selection = nullptr;
  if (sxt_kernel_select(context.get(), &query.m.q, matrix.get(), &selection) != SXT_OK) return last_error(context);
  const Selection owner(selection);
  return sxt_selection_kernel(selection);
}

// A product and a solve with a plugin in the choice, which may be of any quality: both must be right.
void expect_right(const std::string &plugin, const char *warning) {
  SCOPED_TRACE(plugin);
  Log log;
  const Context context = with({plugin}, &log);
  Problem p;
  const Matrix a = p.matrix(context);
  std::vector<double> y(p.b.size(), std::nan(""));
  ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a.get(), p.b.data(), nullptr, y.data()), SXT_OK)
      << last_error(context);
  EXPECT_LT(p.worst(y, p.b), 1e-14);
  sxt_pcg_options options = pcg_options();
  options.format = "csr";
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(a.get(), &options, out); });
  ASSERT_NE(pcg, nullptr) << last_error(context);
  sxt_pcg_report report = new_report();
  ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), 400, p.b.data(), p.x.data(), nullptr, &report), SXT_OK);
  EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
  EXPECT_LT(p.worst(p.b, p.x), 1e-5);
  if (warning) {
    EXPECT_TRUE(log.warns_of(warning));
  }
}

TEST(ThirdPartyTest, WrongOnesNeverCompute) {
  expect_right("spmv-factor", "spmv_factor");
  expect_right("spmv-wrong", "spmv_wrong");
  expect_right("spmv-reads-y", "spmv_reads_y");
  expect_right("spmv-flatters", "spmv_flatters");
  expect_right("storage-values", "com.example.storage.values");
  expect_right("storage-refresh", "com.example.storage.refresh");
  expect_right("feature-wrong", nullptr);
}

// Kernels that do nothing, of every kind: vectors, products and solves are still computed.
TEST(ThirdPartyTest, ThoseThatDoNothingNeverCompute) {
  expect_right("lazy", "com.example.lazy.spmv");
  Log log;
  const Context context = with({"lazy"}, &log);
  const auto vector = [&] {
    return make<Vector>([&](sxt_vector **out) { return sxt_vector_create(context.get(), 1000, SXT_F64, out); });
  };
  const Vector x = vector(), y = vector();
  const double two = 2, three = 3;
  double dot = -1, norm = -1;
  ASSERT_EQ(sxt_fill(&two, x.get()), SXT_OK) << last_error(context);
  ASSERT_EQ(sxt_fill(&three, y.get()), SXT_OK) << last_error(context);
  ASSERT_EQ(sxt_axpby(&two, x.get(), &three, y.get()), SXT_OK) << last_error(context);  // 13
  ASSERT_EQ(sxt_dot(x.get(), y.get(), &dot), SXT_OK) << last_error(context);
  ASSERT_EQ(sxt_nrm2(y.get(), &norm), SXT_OK) << last_error(context);
  EXPECT_DOUBLE_EQ(dot, 26000);
  EXPECT_DOUBLE_EQ(norm, 13 * std::sqrt(1000.0));
}

// Models use features, and callers can read them.
TEST(ThirdPartyTest, AWrongFeatureIsNotReported) {
  Log log;
  const Context context = with({"feature-wrong"}, &log);
  const Matrix a = Problem().matrix(context);
  double longest = -1;
  ASSERT_EQ(sxt_matrix_feature(a.get(), "row_nnz_max", &longest), SXT_OK) << last_error(context);
  EXPECT_EQ(longest, 5);
}

TEST(ThirdPartyTest, RightOnesDo) {
  const Context context = with({"spmv-serial"});
  const Problem p;
  const Matrix a = p.matrix(context);
  EXPECT_EQ(chosen(context, a), "com.example.spmv_serial");
  expect_right("spmv-serial", nullptr);
  expect_right("storage-none", nullptr);
}

TEST(ThirdPartyTest, AfterADeclineOtherKernelsAreUsed) {
  expect_right("spmv-declines", nullptr);
  expect_right("spmv-fails", nullptr);
}

// It serves the first values and declines the next: y is still right, and so is the next solve.
TEST(ThirdPartyTest, AfterADecliningRefreshOtherKernelsAreUsed) {
  Log log;
  const Context context = with({"spmv-declines-values"}, &log);
  Problem p;
  const Matrix a = p.matrix(context);
  std::vector<double> y(p.b.size());
  EXPECT_EQ(chosen(context, a), "com.example.spmv_declines_values");
  ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a.get(), p.b.data(), nullptr, y.data()), SXT_OK);
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(a.get(), nullptr, out); });
  ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), 400, p.b.data(), p.x.data(), nullptr, nullptr), SXT_OK);
  for (double &value : p.values) value *= 100;  // off-diagonals are below -99 now
  ASSERT_EQ(sxt_matrix_update_values(a.get(), p.values.data(), static_cast<std::int64_t>(p.values.size())), SXT_OK);
  ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a.get(), p.b.data(), nullptr, y.data()), SXT_OK)
      << last_error(context);
  EXPECT_LT(p.worst(y, p.b), 1e-11);
  sxt_pcg_report report = new_report();
  ASSERT_EQ(sxt_pcg_solve_array(pcg.get(), 400, p.b.data(), p.x.data(), nullptr, &report), SXT_OK)
      << last_error(context);
  EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
  EXPECT_LT(p.worst(p.b, p.x), 1e-5);
}

// A prediction builds nothing: a kernel that fails while it is built is still the choice, and cannot run.
TEST(ThirdPartyTest, APredictionBuildsNothing) {
  const Context context = with({"spmv-fails"});
  const Matrix a = Problem().matrix(context);
  EXPECT_NE(chosen(context, a), "com.example.spmv_fails");
  const Matrix anew = Problem().matrix(context);
  sxt_spmv_query query = product_query(100);
  query.m.q.flags |= SXT_QUERY_PREDICT_ONLY;
  const Selection selection = make<Selection>(
      [&](sxt_selection **out) { return sxt_kernel_select(context.get(), &query.m.q, anew.get(), out); });
  ASSERT_NE(selection, nullptr) << last_error(context);
  EXPECT_STREQ(sxt_selection_kernel(selection.get()), "com.example.spmv_fails");
  double run = 0;
  EXPECT_EQ(sxt_selection_cost(selection.get(), nullptr, &run), SXT_OK);
  EXPECT_GT(run, 0);
  char text[4000] = "";
  EXPECT_EQ(sxt_selection_explain(selection.get(), SXT_TEXT, text, sizeof text, nullptr), SXT_OK);
  EXPECT_THAT(text, HasSubstr("com.example.spmv_fails"));
  sxt_spmv_args args{};
  args.h = {sizeof args, SXT_KIND_SPMV};
  sxt_head *head = &args.h;
  EXPECT_EQ(sxt_kernel_run(selection.get(), head), SXT_E_STATE);
  EXPECT_EQ(sxt_selection_time(selection.get(), &head, 1, 0, nullptr, nullptr), SXT_E_STATE);
  EXPECT_THAT(last_error(context), HasSubstr("SXT_QUERY_PREDICT_ONLY"));
}

TEST(ThirdPartyTest, AForcedKernelThatDeclinesIsAnErrorWithTheReason) {
  const Context context = with({"spmv-declines"});
  const Problem p;
  const Matrix a = p.matrix(context);
  ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_SPMV, "com.example.spmv_declines"), SXT_OK);
  std::vector<double> y(p.b.size());
  EXPECT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a.get(), p.b.data(), nullptr, y.data()), SXT_E_NOT_SUPPORTED);
  EXPECT_THAT(last_error(context), HasSubstr("com.example.spmv_declines"));
}

TEST(ThirdPartyTest, OneContextsPluginsAreNoOthers) {
  for (const bool deterministic : {false, true}) {
    const Context before = with({}, nullptr, deterministic);
    const Problem p;
    const Matrix a = p.matrix(before);
    const std::string first = chosen(before, a);
    std::vector<double> y(p.b.size()), again(p.b.size());
    ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a.get(), p.b.data(), nullptr, y.data()), SXT_OK);
    {
      const Context other = with({"spmv-serial"}, nullptr, deterministic);
      EXPECT_EQ(chosen(other, p.matrix(other)), "com.example.spmv_serial");
    }
    EXPECT_EQ(chosen(before, a), first);
    const Context later = with({}, nullptr, deterministic);
    EXPECT_EQ(chosen(later, p.matrix(later)), first);
    EXPECT_EQ(sxt_context_force(later.get(), SXT_KIND_SPMV, "com.example.spmv_serial"), SXT_E_UNKNOWN_NAME);
    const Matrix anew = p.matrix(before);
    ASSERT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, anew.get(), p.b.data(), nullptr, again.data()), SXT_OK);
    EXPECT_EQ(std::memcmp(y.data(), again.data(), y.size() * sizeof y[0]), 0);
  }
}

// A matrix keeps the builder of its storages, and its context the others, when another context names a newer version of
// their plugin that has no such builder.
TEST(ThirdPartyTest, ANewerPluginOfOneContextTakesNoOthersBuilders) {
  for (const auto &[own, newer] : {std::pair{std::vector<std::string>{}, "spmv-for-csr"},
                                   {std::vector<std::string>{"storage-none"}, "spmv-for-none"}}) {
    SCOPED_TRACE(newer);
    const Context context = with(own);
    Problem p;
    const Matrix held = p.matrix(context);
    std::vector<double> y(p.b.size());
    const auto expect_product = [&](const Matrix &matrix, sxt_op op) {
      ASSERT_EQ(sxt_spmv_array(op, nullptr, matrix.get(), p.b.data(), nullptr, y.data()), SXT_OK)
          << last_error(context);
      EXPECT_LT(p.worst(y, p.b), 1e-13);
    };
    ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_SPMV, "spmv.csr.rows.cpu"), SXT_OK) << last_error(context);
    expect_product(held, SXT_NO_TRANSPOSE);
    ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_SPMV, nullptr), SXT_OK);
    const Context other = with({newer});
    expect_product(held, SXT_TRANSPOSE);  // A is symmetric
    sxt_pcg_options options = pcg_options();
    options.format = "csr";
    const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(held.get(), &options, out); });
    ASSERT_NE(pcg, nullptr) << last_error(context);
    for (double &value : p.values) value *= 2;
    ASSERT_EQ(sxt_matrix_update_values(held.get(), p.values.data(), static_cast<std::int64_t>(p.values.size())),
              SXT_OK);
    expect_product(held, SXT_NO_TRANSPOSE);
    EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 400, p.b.data(), p.x.data(), nullptr, nullptr), SXT_OK)
        << last_error(context);
    EXPECT_LT(p.worst(p.b, p.x), 1e-5);
    expect_product(p.matrix(context), SXT_NO_TRANSPOSE);
    // The other context does not have that builder.
    if (sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, p.matrix(other).get(), p.b.data(), nullptr, y.data()) == SXT_OK)
      EXPECT_LT(p.worst(y, p.b), 1e-13);
    else
      EXPECT_THAT(last_error(other), HasSubstr("storage"));
  }
}

// ---- checks in the process

struct Lines {
  int failed = 0, passed = 0;
};
sxt_status check(const Context &context, const std::string &plugin, int stamp, Lines &lines) {
  const auto note = [](void *user, const char *, const char *, std::int32_t outcome, const char *) {
    auto &all = *static_cast<Lines *>(user);
    all.failed += outcome == SXT_CHECK_FAILED;
    all.passed += outcome == SXT_CHECK_PASSED;
  };
  return sxt_plugin_check(context.get(), mock(plugin).c_str(), stamp, note, &lines);
}

TEST(ThirdPartyTest, AFailedCheckQuarantinesAtOnce) {
  Log log;
  const Context context = with({"spmv-reads-gaps"}, &log);
  Lines lines;
  EXPECT_EQ(check(context, "spmv-reads-gaps", 0, lines), SXT_E_PLUGIN);
  EXPECT_GT(lines.failed, 0);
  EXPECT_TRUE(log.warns_of("spmv_reads_gaps"));
  const Problem p;
  EXPECT_NE(chosen(context, p.matrix(context)), "com.example.spmv_reads_gaps");
  bool quarantined = false;
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(sxt_kernel_get(i, &info), SXT_OK);
    if (std::string(info.name) == "com.example.spmv_reads_gaps") quarantined = info.quarantined != 0;
  }
  EXPECT_TRUE(quarantined);
}

TEST(ThirdPartyTest, AWrongBuilderOfAStorageFailsItsCheck) {
  const Context context = with({});
  Lines lines;
  EXPECT_EQ(check(context, "storage-values", 0, lines), SXT_E_PLUGIN);
  EXPECT_GT(lines.failed, 0);
  Lines good;
  EXPECT_EQ(check(context, "storage-none", 0, good), SXT_OK) << last_error(context);
  EXPECT_GT(good.passed, 0);
}

// The file's product is good. Its other kernels are of a kind without cases here, or for another device.
TEST(ThirdPartyTest, AStampNamesOnlyTestedKernels) {
  namespace fs = std::filesystem;
  const fs::path state = fs::path(testing::TempDir()) / ("sextant-stamps-" + std::to_string(getpid()));
  const char *before = std::getenv("XDG_STATE_HOME");
  const std::string kept = before ? before : "";
  setenv("XDG_STATE_HOME", state.c_str(), 1);
  const Context context = with({"kind-elsewhere"});
  Lines lines;
  EXPECT_EQ(check(context, "spmv-mixed", 1, lines), SXT_OK) << last_error(context);
  before ? setenv("XDG_STATE_HOME", kept.c_str(), 1) : unsetenv("XDG_STATE_HOME");
  std::string stamps;
  for (const auto &entry : fs::recursive_directory_iterator(state))
    if (entry.is_regular_file()) {
      std::ifstream file(entry.path());
      stamps.append(std::istreambuf_iterator<char>(file), {});
    }
  fs::remove_all(state);
  EXPECT_THAT(stamps, HasSubstr("com.example.spmv_mixed"));
  EXPECT_THAT(stamps, Not(HasSubstr("com.example.mixed.elsewhere")));
  EXPECT_THAT(stamps, Not(HasSubstr("com.example.mixed.unproven")));
  // It is not used now either.
  const Context later = with({"kind-elsewhere", "spmv-mixed"});
  const sxt_query query{{sizeof query, "com.example.elsewhere/1"}, 1, 0, SXT_F64};
  sxt_selection *selection = nullptr;
  EXPECT_LT(sxt_kernel_select(later.get(), &query, nullptr, &selection), 0);
  EXPECT_THAT(last_error(later), HasSubstr("not proven"));
  sxt_selection_destroy(selection);
}

TEST(ThirdPartyTest, AFileWithoutATestedKernelIsNotAccepted) {
  const Context context = with({});
  Lines lines;
  EXPECT_EQ(check(context, "kind-elsewhere", 0, lines), SXT_E_PLUGIN);
  EXPECT_THAT(last_error(context), HasSubstr("no case proved anything"));
}

// What one case cannot show: that new values are taken, and that M is symmetric.
TEST(ThirdPartyTest, PreconditionersAreAskedTwice) {
  const auto sentence = [](const std::string &plugin) {
    const Context context = with({});
    std::string all;
    const auto note = [](void *user, const char *, const char *, std::int32_t outcome, const char *text) {
      if (outcome == SXT_CHECK_FAILED) *static_cast<std::string *>(user) += std::string(text) + "\n";
    };
    sxt_plugin_check(context.get(), mock(plugin).c_str(), 0, note, &all);
    return all;
  };
  EXPECT_EQ(sentence("preconditioner"), "");
  EXPECT_THAT(sentence("preconditioner-stale"), HasSubstr("after new values its answer is"));
  EXPECT_THAT(sentence("preconditioner-lopsided"), HasSubstr("M is not symmetric"));
}

// A scheduler that promises the least time has to be proven; one that is not keeps no other one out.
TEST(ThirdPartySchedulers, AreUsedWhereTheyAreProvenAndElseOthersAre) {
  const auto a = random_sparse<double>(400, 5, 3);
  for (const bool wrong : {false, true}) {
    const Context context = with({wrong ? "scheduler-wrong" : "scheduler"});
    const Matrix matrix = a.matrix(context);
    const Analysis analysis = analyse(matrix);
    const Cholesky cholesky = factored(analysis);
    std::vector<double> b(400, 1), x(400);
    ASSERT_EQ(sxt_cholesky_solve(cholesky.get(), 400, 1, b.data(), 400, x.data(), 400, nullptr, nullptr), SXT_OK);
    EXPECT_LE(a.backward_error(b.data(), x.data()), 1e-14) << wrong;
    std::string text(1 << 16, 0);
    std::int64_t length = 0;
    ASSERT_EQ(sxt_analysis_explain(analysis.get(), SXT_TEXT, text.data(), 1 << 16, &length), SXT_OK);
    text.resize(static_cast<std::size_t>(length));
    const bool chosen = text.find("mock.scheduler") < text.find("cholesky.tasks.cpu");
    EXPECT_EQ(chosen, !wrong) << text;
  }
}

// Its cases are small; a factor that it makes has to solve a system of the library's own before anyone may use it.
TEST(ThirdPartySchedulers, AreNotBelievedWhereTheyAreWrongForLargeMatricesAlone) {
  const Context context = with({"scheduler-wrong-where-large"});
  for (const std::int64_t n : {400, 6000}) {
    const auto a = random_sparse<double>(n, 5, 3);
    const Matrix matrix = a.matrix(context);
    sxt_analysis_options options;
    sxt_analysis_options_init(&options, sizeof options);
    options.scheduler = "mock.scheduler.wrong_where_large";
    const Analysis analysis = analyse(matrix, &options);
    const Cholesky cholesky = cholesky_of(analysis);
    if (n == 400) {
      EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_OK);
      continue;
    }
    EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_E_PLUGIN);
    EXPECT_THAT(last_error(context), HasSubstr("mock.scheduler.wrong_where_large leaves a residual"));
    std::vector<double> b(static_cast<std::size_t>(n), 1), x(b);
    EXPECT_EQ(sxt_cholesky_solve(cholesky.get(), n, 1, b.data(), n, x.data(), n, nullptr, nullptr), SXT_E_STATE);
  }
}

// A column that it names becomes an index.
TEST(ThirdPartySchedulers, NameColumnsOfTheMatrix) {
  const Context context = with({"scheduler-wrong-column"});
  const auto a = random_sparse<double>(6000, 5, 3);
  const Matrix matrix = a.matrix(context);
  sxt_analysis_options options = analysis_options();
  options.scheduler = "mock.scheduler.wrong_column";
  const Analysis analysis = analyse(matrix, &options);
  const Cholesky cholesky = cholesky_of(analysis);
  EXPECT_EQ(sxt_cholesky_factor(cholesky.get(), nullptr, nullptr), SXT_E_PLUGIN);
  EXPECT_THAT(last_error(context),
              HasSubstr("mock.scheduler.wrong_column names a column that the matrix does not have"));
}

// No system of the library's own is solved with the factors of sets: schedulers of others do not make them.
TEST(ThirdPartySchedulers, FactorNoSets) {
  const Family<double> family(random_sparse<double>(300, 4, 3), 3);
  for (const char *plugin : {"scheduler", "scheduler-wrong-where-large"}) {
    const Context context = with({plugin});
    const Matrix matrix = family.first.matrix(context);
    sxt_analysis_options options = analysis_options();
    const Sets sets = sets_of(analyse(matrix, &options), 3);
    ASSERT_EQ(family.factor(sets), SXT_OK) << last_error(context);
    std::vector<double> b(900, 1), x(900);
    ASSERT_EQ(sxt_cholesky_sets_solve(sets.get(), 0, 3, 300, 1, b.data(), 300, 300, x.data(), 300, 300, nullptr),
              SXT_OK);
    EXPECT_LE(family.matrix_of(2).backward_error(&b[600], &x[600]), 1e-14);
    std::string text(1 << 16, 0);
    ASSERT_EQ(sxt_cholesky_sets_explain(sets.get(), SXT_TEXT, text.data(), 1 << 16, nullptr), SXT_OK);
    EXPECT_NE(text.find("sets take the library's own alone"), std::string::npos) << text;
    if (std::string(plugin) != "scheduler") continue;
    options.scheduler = "mock.scheduler";
    const Analysis named = analyse(matrix, &options);
    sets_of(named, 3, SXT_E_NOT_SUPPORTED);
    EXPECT_NE(std::string(last_error(context)).find("mock.scheduler is a third party's"), std::string::npos);
  }
}

}  // namespace
}  // namespace api_test
