// SPDX-License-Identifier: BSD-3-Clause
// Contexts and what is loaded: logs, plans, forces, checks, calibration, selections.
#include <filesystem>

#include "problem.hpp"
#include "sextant/plugin/kinds/vector.h"

namespace {

using problem::Differences;
using problem::error_of;
using sextant::Continue;
using testing::HasSubstr;

TEST(CppContext, Describes) {
  sextant::Context context = problem::cpu();
  EXPECT_THAT(context.describe(), HasSubstr("cpu"));
  context.synchronize();
  int stream = 0;
  EXPECT_EQ(error_of([&] { context.set_stream(&stream); }).status(), SXT_E_NOT_SUPPORTED);
  sextant::ContextOptions options;
  options.device = "abacus";
  EXPECT_EQ(error_of([&] { sextant::Context{options}; }).status(), SXT_E_UNKNOWN_NAME);
}

TEST(CppContext, LibraryAndRegistry) {
  const sextant::Version version = sextant::version();
  EXPECT_EQ(version.major, SXT_VERSION_MAJOR);
  EXPECT_EQ(std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch),
            sextant::version_string());
  const sextant::Context context = problem::cpu();
  EXPECT_FALSE(sextant::plugins().empty());
  const auto kernels = sextant::kernels();
  EXPECT_TRUE(std::any_of(kernels.begin(), kernels.end(), [](const sxt_kernel_info &kernel) {
    return std::string(kernel.name) == "spmv.csr.rows.cpu";
  }));
  EXPECT_EQ(static_cast<std::int64_t>(sextant::refusals().size()), sxt_refusal_count());
  EXPECT_EQ(sextant::status_name(SXT_E_INDEX), "SXT_E_INDEX");
  EXPECT_THAT(std::string(sextant::status_sentence(SXT_E_INDEX)), HasSubstr("index"));
  EXPECT_EQ(sextant::reason_name(SXT_REASON_STAGNATED), "stagnated");
  EXPECT_THAT(std::string(sextant::reason_sentence(SXT_REASON_STAGNATED)), HasSubstr("residual"));
}

TEST(CppContext, ForcesAndPlans) {
  sextant::Context context = problem::cpu();
  const Differences<double> a(50);
  std::vector<double> x(50, 1.0), y(50);
  EXPECT_EQ(error_of([&] { context.force("sxt.spmv/1", "spmv.csr.rowes.cpu"); }).status(), SXT_E_UNKNOWN_NAME);
  context.force("sxt.spmv/1", "spmv.csr.rows.cpu");
  sextant::spmv(a.matrix(context), x, y);
  context.unforce("sxt.spmv/1");
  const std::string path = testing::TempDir() + "cpp_plan.toml";
  context.save_plan(path);
  sextant::Context other = problem::cpu();
  other.load_plan(path, true);
  std::filesystem::remove(path);
  EXPECT_EQ(error_of([&] { other.load_plan(path); }).status(), SXT_E_FILE_READ);
}

TEST(CppContext, LogsAsLongAsAnObjectLives) {
  std::vector<std::string> lines;
  sextant::ContextOptions options;
  options.log_level = SXT_LOG_INFO;
  options.log = [&](sxt_log_level, std::string_view line) { lines.emplace_back(line); };
  const Differences<double> a(50);
  std::vector<double> b(50, 1.0), x(50);
  const auto solver = [&] { return sextant::Pcg(a.matrix(problem::cpu(options))); };
  const sextant::Pcg pcg = solver();  // context and matrix are gone
  const std::size_t before = lines.size();
  EXPECT_GT(before, 0u);
  pcg.solve(b, x);
  EXPECT_GT(lines.size(), before);
}

TEST(CppContext, WhatALogThrowsComesOutOfTheCall) {
  bool angry = false;
  sextant::ContextOptions options;
  options.log_level = SXT_LOG_INFO;
  options.log = [&](sxt_log_level, std::string_view) {
    if (angry) throw std::domain_error("from the log");
  };
  const sextant::Context context = problem::cpu(options);
  const Differences<double> a(50);
  const sextant::Matrix matrix = a.matrix(context);
  angry = true;
  EXPECT_THROW(sextant::Pcg{matrix}, std::domain_error);
  angry = false;
  const sextant::Pcg pcg(matrix);  // it is thrown once
  angry = true;
  std::vector<double> b(50, 1.0), x(50);
  EXPECT_THROW(pcg.solve(b, x), std::domain_error);
}

TEST(CppContext, ChecksPlugins) {
  const sextant::Context context = problem::cpu();
  const std::string path = std::string(SEXTANT_PLUGIN_DIR) + "/cpu/reduction-reference.so";
  int lines = 0;
  sextant::check_plugin(context, path, false,
                        [&](std::string_view, std::string_view, std::int32_t, std::string_view) { ++lines; });
  EXPECT_GT(lines, 0);
  const auto throws = [](std::string_view, std::string_view, std::int32_t, std::string_view) { throw 7; };
  EXPECT_THROW(sextant::check_plugin(context, path, false, throws), int);
  EXPECT_EQ(error_of([&] { sextant::check_plugin(context, "/not/there.so"); }).status(), SXT_E_FILE_READ);
}

TEST(CppModels, WhatACalibrationsCallableThrowsEndsIt) {
  const sextant::Context context = problem::cpu();
  const std::string path = testing::TempDir() + "cpp_profile.toml";
  sextant::CalibrateOptions options;
  options.path = path.c_str();
  options.quick = 1;
  options.kind = "sxt.vector/1";
  options.progress = [](double, const char *, double) { throw std::logic_error("from progress"); };
  EXPECT_THROW(sextant::calibrate(context, options), std::logic_error);

  std::vector<std::string> kernels;
  int samples = 0;
  options.progress = {};
  options.seconds = 0.5;
  options.model = [&](const sxt_model_info &info) { kernels.push_back(info.kernel); };
  options.sample = [&](const sxt_model_sample &) { ++samples; };
  EXPECT_EQ(sextant::calibrate(context, options), path);
  EXPECT_THAT(kernels, testing::Contains(testing::StartsWith("vector.")));
  EXPECT_GT(samples, 0);
  options.model = [](const sxt_model_info &) { throw std::logic_error("from model"); };
  EXPECT_THROW(sextant::calibrate(context, options), std::logic_error);
  std::filesystem::remove(path);
}

TEST(CppModels, Verifies) {
  const sextant::Context context = problem::cpu();
  const Differences<double> a(500);
  const sextant::Matrix matrix = a.matrix(context);
  sextant::VerifyOptions options;
  options.candidate_seconds = 1e-4;
  std::vector<sxt_verify_line> lines;
  sextant::verify_model(matrix, options, [&](const sxt_verify_line &line) { lines.push_back(line); });
  EXPECT_GT(lines.size(), 1u);
  EXPECT_EQ(sextant::verify_summary(lines).matrices, 1);
  std::size_t seen = 0;
  sextant::verify_model(matrix, options, [&](const sxt_verify_line &) { return ++seen, Continue::no; });
  EXPECT_EQ(seen, 1u);
  const auto throws = [](const sxt_verify_line &) { throw std::logic_error("from line"); };
  EXPECT_THROW(sextant::verify_model(matrix, options, throws), std::logic_error);
}

TEST(CppSelection, AnyKernel) {
  const sextant::Context context = problem::cpu();
  sxt_vector_query query{};
  query.q.h = {sizeof query, SXT_KIND_VECTOR};
  query.q.expected_runs = 1;
  query.q.value_type = SXT_F64;
  query.n = 4;
  query.operation = SXT_VECTOR_COPY;
  const sextant::Selection selection(context, query.q);
  EXPECT_THAT(std::string(selection.kernel()), testing::StartsWith("vector."));
  EXPECT_GT(selection.cost().run_seconds, 0);
  EXPECT_THAT(selection.explain(), HasSubstr(std::string(selection.kernel())));
  const std::vector<double> x{1, 2, 3, 4};
  std::vector<double> y(4);
  sxt_vector_args args{};
  args.h = query.q.h;
  args.h.struct_size = sizeof args;
  args.n = 4;
  args.operation = query.operation;
  args.x = x.data();
  args.y = y.data();
  selection.run(args.h);
  EXPECT_EQ(y, x);
  sxt_head *heads[] = {&args.h};
  EXPECT_GT(selection.time(heads, 1e-3).seconds, 0);
  const sextant::Matrix matrix = Differences<double>(3).matrix(context);
  query.operation = -1;
  EXPECT_THROW(sextant::Selection(context, query.q, matrix), sextant::error);
  query.operation = SXT_VECTOR_COPY;
  sextant::Matrix gone = Differences<double>(3).matrix(context);
  const sextant::Matrix kept = std::move(gone);
  EXPECT_THAT(error_of([&] { sextant::Selection(context, query.q, gone); }).what(), HasSubstr("matrix was moved from"));
}

TEST(CppSelection, DecisionTrees) {
  const sextant::Context context = problem::cpu();
  EXPECT_THAT(sextant::decision_tree_operations(), testing::Contains("axpy"));
  EXPECT_THAT(sextant::decision_tree(context, "axpy", SXT_F64), HasSubstr("axpy"));
  EXPECT_EQ(error_of([&] { sextant::decision_tree(context, "axpie", SXT_F64); }).status(), SXT_E_UNKNOWN_NAME);
}

}  // namespace
