// SPDX-License-Identifier: BSD-3-Clause
// Plans that are saved and loaded: one that fits is followed as a whole, without a probe, trials or another analysis of
// the matrix; and the choice does not depend on clocks.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

class SavedPlanTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  std::string path_ = testing::TempDir() + "sextant-saved-plan-" +
                      testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml";
};

struct Made {
  std::string explanation;
  sxt_pcg_report report = new_report();
};

Made solve(const Context &context, const Csr &a, const sxt_pcg_options &options, sxt_status expected = SXT_OK) {
  Made made;
  const Matrix matrix = a.matrix(context);
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); }, expected);
  if (!pcg) return made;
  made.explanation = explain(pcg);
  std::vector<double> ones(static_cast<std::size_t>(a.rows), 1), b = a.times(ones), x(b.size());
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), a.rows, b.data(), x.data(), nullptr, &made.report), SXT_OK);
  return made;
}

// The line of an explanation that begins with this word.
std::string fact(const std::string &explanation, const std::string &name) {
  const std::size_t at = explanation.find(name);
  return at == std::string::npos ? "" : explanation.substr(at, explanation.find('\n', at) - at);
}

Csr uneven(int side) {
  return laplacian(side).scaled([](double i) { return std::exp2(std::sin(i)); });
}

TEST_F(SavedPlanTest, AFittingPlanSkipsProbeAndTrials) {
  const Csr a = uneven(120);
  sxt_pcg_options options = pcg_options();
  options.expected_solves = 10;
  const Context first = cpu();
  const Made made = solve(first, a, options);
  ASSERT_GT(made.report.probe_iterations, 0);
  ASSERT_EQ(sxt_plan_save(first.get(), path_.c_str()), SXT_OK);
  const Context second = cpu();
  ASSERT_EQ(sxt_plan_load(second.get(), path_.c_str(), 1), SXT_OK) << last_error(second);
  const Made again = solve(second, a, options);
  EXPECT_EQ(again.report.probe_iterations, 0);
  EXPECT_EQ(again.report.probe_seconds, 0);
  EXPECT_EQ(again.report.predicted_iterations, made.report.predicted_iterations);
  EXPECT_EQ(again.explanation.find("left out"), std::string::npos) << "nothing else was tried\n" << again.explanation;
  EXPECT_NE(again.explanation.find("as the loaded plan says"), std::string::npos) << again.explanation;
  for (const char *name : {"preconditioner", "engine", "format"})
    EXPECT_EQ(fact(again.explanation, name), fact(made.explanation, name));
  EXPECT_EQ(again.report.iterations, made.report.iterations);
}

TEST_F(SavedPlanTest, APlanMadeWithANamedEngineIsFollowedWithIt) {
  const Csr a = uneven(40);
  for (const char *engine : {"pcg.host-loop.classical.cpu", "pcg.host-loop.predict-recompute.cpu",
                             "pcg.host-loop.chronopoulos-gear.cpu", "pcg.team.classical.cpu"}) {
    sxt_pcg_options options = pcg_options();
    options.engine = engine;
    const Context first = cpu();
    solve(first, a, options);
    ASSERT_EQ(sxt_plan_save(first.get(), path_.c_str()), SXT_OK);
    const Context second = cpu();
    ASSERT_EQ(sxt_plan_load(second.get(), path_.c_str(), 1), SXT_OK) << last_error(second);
    const Matrix matrix = a.matrix(second);
    const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
    ASSERT_NE(pcg, nullptr) << engine << ": " << last_error(second);
    EXPECT_NE(explain(pcg).find(engine), std::string::npos);
  }
}

TEST_F(SavedPlanTest, APlanForAnEvenDiagonalIsNotFollowedForAnUnevenOne) {
  const Csr even = laplacian(40), later = even.scaled([](double i) { return std::pow(10, std::sin(i * i)); });
  const sxt_pcg_options options = pcg_options();
  const Context first = cpu();
  solve(first, even, options);
  ASSERT_EQ(sxt_plan_save(first.get(), path_.c_str()), SXT_OK);
  const Context second = cpu();
  ASSERT_EQ(sxt_plan_load(second.get(), path_.c_str(), 0), SXT_OK) << last_error(second);
  const Made made = solve(second, later, options);
  EXPECT_NE(made.explanation.find("the loaded plan does not fit: the diagonal's"), std::string::npos)
      << made.explanation;
  const Context third = cpu();
  ASSERT_EQ(sxt_plan_load(third.get(), path_.c_str(), 1), SXT_OK) << last_error(third);
  solve(third, later, options, SXT_E_PLAN);
}

// Two solvers of one matrix, of which one was asked for something by name: each follows its own part of the plan.
TEST_F(SavedPlanTest, APlanThatNamesAnUnknownPreconditionerIsNotFollowed) {
  const Csr a = uneven(40);
  const Context first = cpu();
  solve(first, a, pcg_options());
  ASSERT_EQ(sxt_plan_save(first.get(), path_.c_str()), SXT_OK);
  std::ifstream file(path_);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t at = text.find('\'', text.find("preconditioner = "));
  ASSERT_NE(at, std::string::npos) << text;
  std::ofstream(path_) << text.insert(at + 1, "no-such-");
  for (const int required : {0, 1}) {
    const Context second = cpu();
    ASSERT_EQ(sxt_plan_load(second.get(), path_.c_str(), required), SXT_OK) << last_error(second);
    const Made made = solve(second, a, pcg_options(), required ? SXT_E_PLAN : SXT_OK);
    if (!required) {
      EXPECT_NE(made.explanation.find("does not fit"), std::string::npos) << made.explanation;
    }
  }
}

TEST_F(SavedPlanTest, SolversThatWereAskedDifferentlyAreKeptApart) {
  const Csr a = uneven(60);
  const auto asked = [](int by) {
    sxt_pcg_options options = pcg_options();
    if (by == 1) options.engine = "pcg.host-loop.chronopoulos-gear.cpu";
    if (by == 2) options.format = "csr";
    if (by == 3) options.recurrence = "predict-recompute";
    if (by == 4) options.preconditioner = "none";
    return options;
  };
  for (const int by : {1, 2, 3, 4}) {
    SCOPED_TRACE(by);
    const Context first = cpu(1);
    const Made plain = solve(first, a, asked(0)), named = solve(first, a, asked(by));
    ASSERT_EQ(sxt_plan_save(first.get(), path_.c_str()), SXT_OK);
    const Context second = cpu(1);
    ASSERT_EQ(sxt_plan_load(second.get(), path_.c_str(), 1), SXT_OK) << last_error(second);
    const Made plain_again = solve(second, a, asked(0)), named_again = solve(second, a, asked(by));
    for (const char *name : {"preconditioner", "engine", "format"}) {
      EXPECT_EQ(fact(plain_again.explanation, name), fact(plain.explanation, name));
      EXPECT_EQ(fact(named_again.explanation, name), fact(named.explanation, name));
    }
    EXPECT_EQ(plain_again.report.iterations, plain.report.iterations);
    EXPECT_EQ(named_again.report.iterations, named.report.iterations);
  }
}

// A trial that takes a hundred times what was predicted, as on a busy machine, changes no choice.
TEST(RepeatableChoiceTest, NoClockDecides) {
  static const char *const paths[] = {SEXTANT_MOCK_DIR "/old-values.so"};
  sxt_context_options settings = context_options();
  settings.device = "cpu";
  settings.threads = 1;
  settings.plugin_paths = paths;
  settings.n_plugin_paths = 1;
  const Csr a = uneven(150);
  const auto notes = [&](bool slow) {
    setenv("SEXTANT_MOCK_SLOW", "1", 1);
    if (slow) setenv("SEXTANT_MOCK_SLEEPS", "1", 1);
    const Context context = make<Context>([&](sxt_context **out) { return sxt_context_create(&settings, out); });
    const Matrix matrix = a.matrix(context);
    sxt_pcg_options options = pcg_options();
    options.expected_solves = 10;
    const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), &options, out); });
    unsetenv("SEXTANT_MOCK_SLEEPS");
    unsetenv("SEXTANT_MOCK_SLOW");
    const std::string all = explain(pcg);
    std::string said;  // of preconditioners, chosen or not
    for (std::size_t at = 0, end; at < all.size(); at = end + 1) {
      end = std::min(all.find('\n', at), all.size());
      const std::string line = all.substr(at, end - at);
      if (line.find("preconditioner") != std::string::npos) said += line + "\n";
    }
    return said;
  };
  const std::string quick = notes(false);
  EXPECT_NE(quick.find("mock-slow"), std::string::npos) << quick;
  EXPECT_NE(quick.find("preconditioner fsai"), std::string::npos) << "who comes after it is judged, too\n" << quick;
  EXPECT_EQ(notes(true), quick);
}

}  // namespace
}  // namespace api_test
