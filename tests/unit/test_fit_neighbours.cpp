// SPDX-License-Identifier: BSD-3-Clause
// Corrections of fitted forms by what was measured of similar matrices: found where the form misses something that the
// terms show, kept by profiles, and refused where a profile's numbers are inconsistent.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.hpp"
#include "core/model/fit.hpp"
#include "core/model/profile.hpp"

namespace sextant {
namespace {

// Matrices of sixteen families, bytes and longest rows over four decades; the law depends on their ratio in a way that
// no sum and no maximum of them has.
double law(const Sample &s) {
  const double ratio = std::log2(s.terms[1] / (1e3 * s.terms[2]));
  return (1e-6 + 1e-10 * s.terms[1]) * (1 + 0.3 * std::sin(ratio / 3));
}

FitProblem problem(bool over_matrices, int shift = 0) {
  FitProblem made{{"launches", "stream_bytes", "tail.chain"}, {1e-6, 1e-10, 1e-9}, {}};
  made.over_matrices = over_matrices;
  for (int family = 0; family < 16; ++family)
    for (int i = 0; i < 8; ++i) {
      Sample sample;
      const double bytes = 1e4 * std::pow(10.0, (i + 0.06 * ((family * 5 + shift) % 16)) / 2.0);
      sample.terms = {1, bytes, std::pow(2.0, (family * 7 + 3 * i + shift) % 13)};
      sample.working_set = bytes;
      sample.family = family;
      sample.seconds = law(sample);
      made.samples.push_back(sample);
    }
  return made;
}

double mean_error(const FittedModel &model, const FitProblem &others) {
  double sum = 0;
  for (const Sample &s : others.samples) sum += std::abs(model.evaluate(s.terms.data(), s.working_set) / s.seconds - 1);
  return sum / static_cast<double>(others.samples.size());
}

TEST(FitNeighbours, CorrectWhatTheFormMisses) {
  const FittedModel with = fit(problem(true)), without = fit(problem(false));
  EXPECT_TRUE(without.neighbours.weights.empty());
  ASSERT_EQ(with.neighbours.weights.size(), 128u);
  EXPECT_EQ(with.neighbours.floors[0], 0) << "equal everywhere: it tells nothing apart";
  const FitProblem unseen = problem(true, 5);
  EXPECT_LT(mean_error(with, unseen), 0.6 * mean_error(without, unseen));
  // Far from all measurements the prediction is that of the form, or nearly so.
  const double far[] = {1, 1e15, 1};
  EXPECT_NEAR(with.evaluate(far, 1e15) / with.form(far, 1e15), 1, 0.15);
}

TEST(FitNeighbours, NeverCorrectByMoreThanHalf) {
  FitProblem wild = problem(true);
  for (Sample &sample : wild.samples) sample.seconds *= sample.terms[2] > 100 ? 10 : 1;
  const FittedModel model = fit(wild);
  for (const Sample &s : wild.samples) {
    const double factor = model.evaluate(s.terms.data(), s.working_set) / model.form(s.terms.data(), s.working_set);
    EXPECT_LE(factor, 1.51);
    EXPECT_GE(factor, 0.66);
  }
}

class NeighbourProfile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (std::filesystem::temp_directory_path() / "sextant-neighbours-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(NeighbourProfile, KeepsThem) {
  Profile profile;
  const ModelKey key{"spmv.some.cuda", 1, SXT_F64, SXT_F64, 2};
  const FittedModel &model = profile.models[key] = fit(problem(true));
  const std::string path = folder_ / "profile.toml";
  update_profile(path, profile);
  const FittedModel read = read_profile(path).models.at(key);
  ASSERT_EQ(read.neighbours.weights.size(), model.neighbours.weights.size());
  for (const Sample &s : problem(true, 3).samples)
    EXPECT_NEAR(read.evaluate(s.terms.data(), 0) / model.evaluate(s.terms.data(), 0), 1, 2e-3);

  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto broken = [&](const std::string &from, const std::string &to, const char *complaint) {
    std::string changed = text;
    ASSERT_NE(changed.find(from), std::string::npos);
    changed.replace(changed.find(from), from.size(), to);
    const std::string other = folder_ / "broken.toml";
    std::ofstream(other) << changed;
    try {
      read_profile(other);
      ADD_FAILURE() << "it was accepted: " << to;
    } catch (const Error &problem) {
      EXPECT_NE(std::string(problem.what()).find(complaint), std::string::npos) << problem.what();
    }
  };
  broken("neighbour_places = \"", "neighbour_places = \"1 ",
         "neighbour_places must be a number for each of 128 weights");
  broken("neighbour_weights = \"", "neighbour_weights = \"x ", "integers");
  broken("neighbour_floors = [", "neighbour_floors = [1.0, ", "each of 3 terms");
}

}  // namespace
}  // namespace sextant
