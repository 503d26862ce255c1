// SPDX-License-Identifier: BSD-3-Clause
// Calibration through the C interface: defaults, progress, cancelling, refusals.
#include <gtest/gtest.h>
#include <algorithm>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support.hpp"

namespace api_test {
namespace {

namespace fs = std::filesystem;

struct Seen {
  int calls = 0, cancel_after = 1 << 30;
  double last = -1;
  bool ordered = true;
  std::vector<std::string> kernels;
  std::map<std::string, std::int64_t> samples;  // by kernel: reported one by one, less the models' counts
};

std::int32_t on_progress(void *user, double done, const char *what, double seconds_left) {
  auto &seen = *static_cast<Seen *>(user);
  seen.ordered = seen.ordered && done >= seen.last && done <= 1 && seconds_left >= 0 && std::strlen(what) > 0;
  seen.last = done;
  return ++seen.calls > seen.cancel_after;
}

void on_model(void *user, const sxt_model_info *info) {
  EXPECT_EQ(info->struct_size, sizeof *info);
  EXPECT_TRUE(info->samples > 0 || info->setup_samples > 0);
  auto &seen = *static_cast<Seen *>(user);
  seen.kernels.emplace_back(info->kernel);
  seen.samples[info->kernel] -= info->samples;
}

void on_sample(void *user, const sxt_model_sample *sample) {
  EXPECT_EQ(sample->struct_size, sizeof *sample);
  EXPECT_GT(sample->measured_s, 0);
  EXPECT_GT(sample->fitted_s, 0);
  EXPECT_LT(sample->fitted_s, 1000 * sample->measured_s);
  ASSERT_GT(sample->n_terms, 0);
  double counted = 0;
  for (std::int64_t i = 0; i < sample->n_terms; ++i) {
    EXPECT_STRNE(sample->term_names[i], "");
    EXPECT_GE(sample->terms[i], 0);
    counted += sample->terms[i];
  }
  EXPECT_GT(counted, 0) << sample->kernel;
  EXPECT_GE(sample->launch[0], 0);
  ++static_cast<Seen *>(user)->samples[sample->kernel];
}

class CalibrateTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "sextant-calibrate-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = (folder_ / "p.toml").string();
    sxt_calibrate_options_init(&options_, sizeof options_);
    options_.quick = 1;
    options_.path = path_.c_str();
    options_.progress = on_progress;
    options_.progress_user = &seen_;
    options_.model = on_model;
    options_.model_user = &seen_;
    options_.sample = on_sample;
    options_.sample_user = &seen_;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
  std::string path_;
  Seen seen_;
  sxt_calibrate_options options_;
};

TEST_F(CalibrateTest, WritesAProfileThatLaterContextsRead) {
  const Context context = cpu();
  options_.seconds = 0.5;
  options_.kind = "sxt.reduction/1";
  char path[512];
  std::int64_t length = 0;
  ASSERT_EQ(sxt_calibrate(context.get(), &options_, path, sizeof path, &length), SXT_OK) << last_error(context);
  EXPECT_EQ(path_, path);
  EXPECT_EQ(length, static_cast<std::int64_t>(path_.size()));
  EXPECT_GT(seen_.calls, 1);
  EXPECT_TRUE(seen_.ordered);
  EXPECT_FALSE(seen_.kernels.empty());
  for (const auto &[kernel, left] : seen_.samples) EXPECT_EQ(left, 0) << kernel;
  sxt_context_options options = context_options();
  options.profile_path = path;
  const Context later = make<Context>([&](sxt_context **out) { return sxt_context_create(&options, out); });
  EXPECT_NE(later, nullptr);
}

// Engines that do the steps of an iteration themselves have models; those that call other kernels do not.
TEST_F(CalibrateTest, MeasuresEnginesOfConjugateGradients) {
  const Context context = cpu();
  options_.seconds = 1;
  options_.kind = "sxt.pcg/1";
  ASSERT_EQ(sxt_calibrate(context.get(), &options_, nullptr, 0, nullptr), SXT_OK) << last_error(context);
  const auto known = [&](const char *name) { return std::count(seen_.kernels.begin(), seen_.kernels.end(), name) > 0; };
  EXPECT_TRUE(known("pcg.team.predict-recompute.cpu"));
  EXPECT_FALSE(known("pcg.host-loop.classical.cpu"));
}

TEST_F(CalibrateTest, MeasuresSchedulersOfSparseFactorisations) {
  const Context context = cpu();
  options_.seconds = 2;
  options_.kind = "sxt.cholesky/1";
  ASSERT_EQ(sxt_calibrate(context.get(), &options_, nullptr, 0, nullptr), SXT_OK) << last_error(context);
  const auto known = [&](const char *name) { return std::count(seen_.kernels.begin(), seen_.kernels.end(), name) > 0; };
  EXPECT_TRUE(known("cholesky.tasks.cpu"));
  EXPECT_FALSE(known("cholesky.reference.cpu"));
}

TEST_F(CalibrateTest, CancelledKeepsWhatWasMeasured) {
  const Context context = cpu();
  options_.seconds = 60;
  options_.kind = "sxt.vector/1";
  seen_.cancel_after = 4;
  ASSERT_EQ(sxt_calibrate(context.get(), &options_, nullptr, 0, nullptr), SXT_OK) << last_error(context);
  EXPECT_EQ(seen_.calls, 5);
  EXPECT_FALSE(seen_.kernels.empty());
  EXPECT_TRUE(fs::exists(path_));
}

TEST_F(CalibrateTest, RefusesWhatHasNoMeaning) {
  const Context context = cpu();
  EXPECT_EQ(sxt_calibrate(nullptr, &options_, nullptr, 0, nullptr), SXT_E_ARGUMENT);
  options_.kind = "sxt.reductoin/1";
  EXPECT_EQ(sxt_calibrate(context.get(), &options_, nullptr, 0, nullptr), SXT_E_UNKNOWN_NAME);
  EXPECT_NE(last_error(context).find("sxt.reduction/1"), std::string::npos) << last_error(context);
  options_.kind = nullptr;
  options_.seconds = -1;
  EXPECT_EQ(sxt_calibrate(context.get(), &options_, nullptr, 0, nullptr), SXT_E_ARGUMENT);
  EXPECT_FALSE(fs::exists(path_));
}

}  // namespace
}  // namespace api_test
