// SPDX-License-Identifier: BSD-3-Clause
// New values beside captures, over the fake libraries: an update is refused while the stream is being captured, and
// what is captured after an update contains every part of the set-up with the new values.
#include <cstdint>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "tests/fake_device/fixture.hpp"

namespace {

using namespace fake_test;

class FakeOldValues : public FakeDevice {
 protected:
  static constexpr std::int32_t rows = 300;
  void SetUp() override {
    FakeDevice::SetUp();
    if (IsSkipped()) return;
    for (std::int32_t i = 0; i < rows; ++i) {
      for (const std::int32_t k : {i - 1, i, i + 1})
        if (k >= 0 && k < rows) col_.push_back(k), values_.push_back(k == i ? 4 : -1);
      ptr_.push_back(static_cast<std::int32_t>(col_.size()));
    }
    ASSERT_EQ(open(&context_), SXT_OK);
    ASSERT_EQ(sxt_matrix_from_csr(context_, rows, rows, ptr_.data(), col_.data(), values_.data(), nullptr, &matrix_),
              SXT_OK);
    ASSERT_EQ(device().ops().stream_create(device().handle(), &stream_), SXT_OK);
    ASSERT_EQ(sxt_context_set_stream(context_, stream_), SXT_OK);
  }
  void TearDown() override {
    FakeDevice::TearDown();
    sxt_matrix_destroy(matrix_);
    if (stream_) {
      sxt_context_set_stream(context_, nullptr);
      device().ops().stream_destroy(device().handle(), stream_);
    }
    sxt_context_destroy(context_);
    if (IsSkipped()) return;
    EXPECT_EQ(left_behind(), "");
  }
  sextant::Device &device() { return context_->context->device(); }
  sxt_status update(double factor) {
    std::vector<double> values = values_;
    for (double &each : values) each *= factor;
    return sxt_matrix_update_values(matrix_, values.data(), static_cast<std::int64_t>(values.size()));
  }
  double first_value() const {
    const void *values = nullptr;
    EXPECT_EQ(sxt_matrix_get_csr(matrix_, nullptr, nullptr, &values), SXT_OK);
    return static_cast<const double *>(values)[0];
  }
  template <class F>
  sxt_status captured(F &&call) {
    void *graph = nullptr;
    EXPECT_EQ(device().ops().capture_begin(device().handle(), stream_), SXT_OK);
    const sxt_status status = call();
    EXPECT_EQ(device().ops().capture_end(device().handle(), stream_, &graph), SXT_OK) << "the capture was spoilt";
    device().ops().graph_destroy(device().handle(), graph);
    return status;
  }

  std::vector<std::int32_t> ptr_{0}, col_;
  std::vector<double> values_;
  sxt_context *context_ = nullptr;
  sxt_matrix *matrix_ = nullptr;
  void *stream_ = nullptr;
};

TEST_F(FakeOldValues, AnUpdateIsRefusedDuringACapture) {
  const std::uint64_t version = matrix_->matrix->version();
  EXPECT_EQ(captured([&] { return update(10); }), SXT_E_STATE);
  EXPECT_NE(std::string(sxt_last_error(context_)).find("being captured"), std::string::npos);
  EXPECT_EQ(first_value(), 4);
  EXPECT_EQ(matrix_->matrix->version(), version);
  EXPECT_EQ(update(10), SXT_OK) << sxt_last_error(context_);
  EXPECT_EQ(first_value(), 40);
}

}  // namespace
