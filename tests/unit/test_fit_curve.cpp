// SPDX-License-Identifier: BSD-3-Clause
// Models over one length: steps that no form follows are followed by the curve over it; where the form is enough there
// is no curve; and the profile keeps one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "core/model/profile.hpp"

namespace sextant {
namespace {

// Seconds of a run over `bytes`: a floor and a bandwidth; with waves of a tenth every four octaves, which no term
// describes.
double plain(double bytes) { return 2e-6 + bytes / 3e12; }
double waved(double bytes) { return plain(bytes) * (1 + 0.1 * std::sin(std::log2(bytes) * std::acos(-1.0) / 2)); }

Sample sample_at(double bytes, double seconds, int family) {
  Sample sample;
  sample.terms = {1, bytes};
  sample.working_set = bytes;
  sample.seconds = seconds;
  sample.family = family;
  return sample;
}

// Between -1 and 1, neighbours far apart.
double noise(int i) { return (static_cast<std::uint32_t>(i) * 2654435761u >> 16) / 32768.0 - 1; }

// Lengths a fourth root of two apart, from 4 KB to 1 GB, each off by up to a percent.
FitProblem problem(double (*law)(double)) {
  FitProblem made{{"launches", "stream_bytes"}, {1e-6, 1e-12}, {}};
  for (int i = 0; i < 72; ++i) {
    const double bytes = 4096 * std::exp2(0.25 * i);
    made.samples.push_back(sample_at(bytes, law(bytes) * (1 + 0.01 * noise(i)), i));
  }
  made.over_one_length = true;
  return made;
}

double worst_error(const FittedModel &model, double (*law)(double)) {
  double worst = 0;
  for (double bytes = 5000; bytes < 1e9; bytes *= 1.07) {
    const Sample at = sample_at(bytes, 0, 0);
    worst = std::max(worst, std::abs(model.evaluate(at.terms.data(), bytes) / law(bytes) - 1));
  }
  return worst;
}

TEST(FitCurve, FollowsWhatNoFormDoes) {
  FitProblem with = problem(waved), without = with;
  without.over_one_length = false;
  const FittedModel curved = fit(with), straight = fit(without);
  EXPECT_FALSE(curved.curve.added.empty());
  EXPECT_TRUE(straight.curve.added.empty());
  EXPECT_GT(worst_error(straight, waved), 0.06);
  EXPECT_LT(worst_error(curved, waved), 0.04);
  EXPECT_LT(curved.p90_error, 0.6 * straight.p90_error);
}

TEST(FitCurve, IsLeftOutWhereTheFormIsEnough) { EXPECT_TRUE(fit(problem(plain)).curve.added.empty()); }

// Beyond the lengths that were measured it stays the same part of the time.
TEST(FitCurve, DoesNotRunAwayBeyondWhatWasMeasured) {
  const FittedModel model = fit(problem(waved));
  for (const double bytes : {1.0, 100.0, 1e11, 1e13}) {
    const Sample at = sample_at(bytes, 0, 0);
    EXPECT_NEAR(model.evaluate(at.terms.data(), bytes) / waved(bytes), 1, 0.25) << bytes;
  }
}

class CurveFile : public testing::Test {
 protected:
  ~CurveFile() override { std::filesystem::remove(path_); }
  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("sextant-curve-" + std::to_string(::getpid()) + ".toml")).string();
};

TEST_F(CurveFile, IsReadBack) {
  Profile profile;
  const ModelKey key{"reduction.some.cpu", 1, SXT_F64, 0, 3};
  profile.models[key] = fit(problem(waved));
  std::ofstream(path_) << profile_text(profile);
  const Profile again = read_profile(path_);
  const FittedModel &before = profile.models.at(key), &after = again.models.at(key);
  ASSERT_EQ(after.curve.added.size(), before.curve.added.size());
  for (double bytes = 1000; bytes < 1e10; bytes *= 3) {
    const Sample at = sample_at(bytes, 0, 0);
    const double want = before.evaluate(at.terms.data(), bytes);
    EXPECT_NEAR(after.evaluate(at.terms.data(), bytes), want, 1e-3 * want) << bytes;
  }
}

TEST_F(CurveFile, NeedsItsFirstPlace) {
  Profile profile;
  profile.models[{"reduction.some.cpu", 1, SXT_F64, 0, 3}] = fit(problem(waved));
  std::string text = profile_text(profile);
  text.erase(text.find("curve_first"), text.find('\n', text.find("curve_first")) - text.find("curve_first") + 1);
  std::ofstream(path_) << text;
  try {
    read_profile(path_);
    FAIL() << "a curve without its first place was read";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), SXT_E_FILE_FORMAT);
    EXPECT_NE(std::string(error.what()).find("curve_first"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sextant
