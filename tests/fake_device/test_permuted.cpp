// SPDX-License-Identifier: BSD-3-Clause
// The predicted time of P A P^T on a device: by the counts of its storage, and by the factor that a calibration found.
// Over the fake libraries nothing is computed, and a calibration still measures calls.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "core/calibrate/calibrate.hpp"
#include "sextant/plugin/kinds/storage_permuted.h"
#include "tests/fake_device/fixture.hpp"

namespace {

using namespace fake_test;

class Permuted : public FakeDevice {
 protected:
  void SetUp() override {
    FakeDevice::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    std::string pattern = (std::filesystem::temp_directory_path() / "sextant-permuted-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
    FakeDevice::TearDown();
  }
  // A context with its own profile.
  void open_with(const std::string &text, sxt_context **context) {
    const std::string path = (folder_ / "p.toml").string();
    std::ofstream(path) << "format = 1\n" << text;
    sxt_context_options options;
    sxt_context_options_init(&options, sizeof options);
    options.device = "cuda";
    options.profile_path = path.c_str();
    ASSERT_EQ(sxt_context_create(&options, context), SXT_OK) << sxt_last_error(nullptr);
  }
  // Of a matrix with `per_row` entries in each of n rows.
  double seconds(sxt_context *context, std::int32_t n, std::int32_t per_row) {
    std::vector<std::int32_t> row_ptr{0}, col;
    for (std::int32_t i = 0; i < n; ++i) {
      const std::int32_t first = std::min(i, n - per_row);
      for (std::int32_t k = 0; k < per_row; ++k) col.push_back(first + k);
      row_ptr.push_back(static_cast<std::int32_t>(col.size()));
    }
    const std::vector<double> values(col.size(), 1);
    sxt_matrix *matrix = nullptr;
    EXPECT_EQ(sxt_matrix_from_csr(context, n, n, row_ptr.data(), col.data(), values.data(), nullptr, &matrix), SXT_OK);
    const double predicted = matrix ? matrix->matrix->permuted_seconds() : 0;
    sxt_matrix_destroy(matrix);
    return predicted;
  }
  std::filesystem::path folder_;
};

TEST_F(Permuted, UseTheFactorOfTheProfile) {
  sxt_context *plain = nullptr, *fitted = nullptr;
  open_with("", &plain);
  open_with(
      "[[models]]\nkernel = \"storage.csr.cuda\"\nversion = 1\nvector_type = \"f64\"\nmatrix_type = "
      "\"f64\"\nmodel_class = " +
          std::to_string(SXT_CLASS_PERMUTED) + "\nsamples = 0\nsetup_factor = 3\nsetup_samples = 9\n",
      &fitted);
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_NEAR(seconds(fitted, 5000, 7), 3 * seconds(plain, 5000, 7), 1e-12);
  sxt_context_destroy(plain);
  sxt_context_destroy(fitted);
}

TEST_F(Permuted, ACalibrationOfStoragesMeasuresIt) {
  sxt_context *context = nullptr;
  open_with("", &context);
  ASSERT_FALSE(HasFatalFailure());
  sextant::CalibrationSettings settings;
  settings.seconds = 1.5;
  settings.most_bytes = 1e5;
  settings.kind = SXT_KIND_STORAGE_CSR;
  const sextant::Profile profile = sextant::calibrate(*context->context, settings);
  const auto found = profile.models.find({"storage.csr.cuda", 1, SXT_F64, SXT_F64, SXT_CLASS_PERMUTED});
  ASSERT_NE(found, profile.models.end());
  EXPECT_GT(found->second.setup_samples, 0);
  EXPECT_GT(found->second.setup_factor, 0);
  EXPECT_EQ(found->second.samples, 0) << "it has a set-up's seconds and no run";
  sxt_context_destroy(context);
  EXPECT_EQ(left_behind(), "");
}

}  // namespace
