// SPDX-License-Identifier: BSD-3-Clause
// Plugins of third parties in a context: wrong ones never compute anything, those that decline leave it to others, and
// no context sees what another one names.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <gmock/gmock.h>

#include "sextant/kinds/spmv.h"
#include "tests/api/support.hpp"

namespace api_test {
namespace {

using testing::HasSubstr;

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
  sxt_spmv_query query{};
  query.m.q.h = {sizeof query, SXT_KIND_SPMV};
  query.m.q.value_type = SXT_F64;
  query.m.q.flags = SXT_QUERY_MATRIX;
  query.m.q.expected_runs = 100;
  query.n_rhs = 1;
  sxt_selection *selection = nullptr;
  if (sxt_kernel_select(context.get(), &query.m.q, matrix.get(), &selection) != SXT_OK) return last_error(context);
  const Selection owner(selection);
  return sxt_selection_kernel(selection);
}

// A product and a solve with a plugin in the choice, whatever it is like: both must be right.
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

TEST(StrangersTest, WrongOnesNeverCompute) {
  expect_right("spmv-factor", "spmv_factor");
  expect_right("spmv-wrong", "spmv_wrong");
  expect_right("spmv-reads-y", "spmv_reads_y");
  expect_right("spmv-flatters", "spmv_flatters");
  expect_right("storage-values", "com.example.storage.values");
  expect_right("storage-refresh", "com.example.storage.refresh");
  expect_right("feature-wrong", nullptr);
}

TEST(StrangersTest, RightOnesDo) {
  const Context context = with({"spmv-serial"});
  const Problem p;
  const Matrix a = p.matrix(context);
  EXPECT_EQ(chosen(context, a), "com.example.spmv_serial");
  expect_right("spmv-serial", nullptr);
  expect_right("storage-none", nullptr);
}

TEST(StrangersTest, ThoseThatDeclineLeaveItToOthers) {
  expect_right("spmv-declines", nullptr);
  expect_right("spmv-fails", nullptr);
}

// It serves the first values and declines the next: y is right all the same, and so is the next solve.
TEST(StrangersTest, ARefreshThatDeclinesLeavesItToOthers) {
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

TEST(StrangersTest, AForcedOneThatDeclinesIsAnErrorThatSaysWhy) {
  const Context context = with({"spmv-declines"});
  const Problem p;
  const Matrix a = p.matrix(context);
  ASSERT_EQ(sxt_context_force(context.get(), SXT_KIND_SPMV, "com.example.spmv_declines"), SXT_OK);
  std::vector<double> y(p.b.size());
  EXPECT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, a.get(), p.b.data(), nullptr, y.data()), SXT_E_NOT_SUPPORTED);
  EXPECT_THAT(last_error(context), HasSubstr("com.example.spmv_declines"));
}

TEST(StrangersTest, OneContextsPluginsAreNoOthers) {
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

TEST(StrangersTest, AFailedCheckQuarantinesAtOnce) {
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

TEST(StrangersTest, AWrongBuilderOfAStorageFailsItsCheck) {
  const Context context = with({});
  Lines lines;
  EXPECT_EQ(check(context, "storage-values", 0, lines), SXT_E_PLUGIN);
  EXPECT_GT(lines.failed, 0);
  Lines good;
  EXPECT_EQ(check(context, "storage-none", 0, good), SXT_OK) << last_error(context);
  EXPECT_GT(good.passed, 0);
}

TEST(StrangersTest, NothingProvenIsNotAccepted) {
  const Context context = with({});
  Lines lines;
  EXPECT_EQ(check(context, "kind-elsewhere", 0, lines), SXT_E_PLUGIN);
  EXPECT_THAT(last_error(context), HasSubstr("no case proved anything"));
}

}  // namespace
}  // namespace api_test
