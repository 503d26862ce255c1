// SPDX-License-Identifier: BSD-3-Clause
// Sets of Hermitian systems in an automatic context whose device runs nothing: a correct solution was computed by the
// CPU; counted launches went to the device.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "tests/fake_device/fixture.hpp"

namespace {

using testing::HasSubstr;
using testing::Not;

// 5 on the diagonal and 1 elsewhere, times a vector of ones.
struct Systems {
  Systems(std::int64_t batch, std::int64_t n)
      : a(static_cast<std::size_t>(batch * n * n), 1),
        b(static_cast<std::size_t>(batch * n), static_cast<double>(n + 4)),
        info(static_cast<std::size_t>(batch), -7) {
    for (std::int64_t s = 0; s < batch; ++s)
      for (std::int64_t i = 0; i < n; ++i) a[static_cast<std::size_t>(s * n * n + i * n + i)] = 5;
  }
  sxt_hermitian_set set() {
    sxt_hermitian_set out;
    sxt_hermitian_set_init(&out, sizeof out);
    out.a = a.data(), out.b = b.data(), out.info = info.data();
    return out;
  }
  void expect_solved() const {
    for (const double each : b) ASSERT_NEAR(each, 1, 1e-12);
    for (const std::int32_t each : info) ASSERT_EQ(each, 0);
  }
  std::vector<double> a, b;
  std::vector<std::int32_t> info;
};

class HermitianPlacement : public fake_test::FakeDevice {
 protected:
  void SetUp() override {
    FakeDevice::SetUp();
    if (!IsSkipped()) open("auto");
  }
  void TearDown() override {
    close();
    FakeDevice::TearDown();
  }

  // One thread of the host, and a kernel a hundred times as fast as on the (small) fake device, so that the same sets
  // go to the device on machines of any size.
  void open(const char *device, int deterministic = 0) {
    const std::string profile = testing::TempDir() + "sextant-hermitian-placement-profile.toml";
    std::ofstream(profile) << "format = 1\n[kernels.\"hermitian.block.cuda\"]\nfactor = 0.01\nrel_error = 0.1\n";
    sxt_context_options options;
    sxt_context_options_init(&options, sizeof options);
    options.device = device;
    options.deterministic = deterministic;
    options.threads = 1;
    options.profile_path = profile.c_str();
    ASSERT_EQ(sxt_context_create(&options, &context_), SXT_OK) << sxt_last_error(nullptr);
  }
  void close() {
    sxt_hermitian_destroy(hermitian_);
    sxt_context_destroy(context_);
    hermitian_ = nullptr;
    context_ = nullptr;
  }
  static sxt_hermitian_options description(std::int64_t batch, std::int64_t n) {
    sxt_hermitian_options options;
    sxt_hermitian_options_init(&options, sizeof options);
    options.batch = batch;
    options.n = n;
    options.space = SXT_SPACE_HOST;
    return options;
  }
  void create(const sxt_hermitian_options &options) {
    sxt_hermitian_destroy(hermitian_);
    hermitian_ = nullptr;
    ASSERT_EQ(sxt_hermitian_create(context_, &options, &hermitian_), SXT_OK) << sxt_last_error(context_);
  }
  std::string explanation() const {
    std::string out(1 << 16, '\0');
    std::int64_t length = 0;
    EXPECT_EQ(sxt_hermitian_explain(hermitian_, SXT_TEXT, out.data(), static_cast<std::int64_t>(out.size()), &length),
              SXT_OK);
    return out.substr(0, static_cast<std::size_t>(length));
  }
  std::string kernel() const {
    sxt_hermitian_report report{};
    report.struct_size = sizeof report;
    EXPECT_EQ(sxt_hermitian_get_report(hermitian_, &report), SXT_OK);
    return report.factor_kernel;
  }
  // Of factoring and solving a set at once.
  std::int64_t launches(const sxt_hermitian_set &set) {
    const std::int64_t before = fake_count("launches");
    EXPECT_EQ(sxt_hermitian_factor_solve(hermitian_, &set), SXT_OK) << sxt_last_error(context_);
    return fake_count("launches") - before;
  }
  std::int64_t launches_of_few() {
    Systems systems(10, 4);
    return launches(systems.set());
  }

  sxt_context *context_ = nullptr;
  sxt_hermitian *hermitian_ = nullptr;
};

TEST_F(HermitianPlacement, FewSmallSystemsAreSolvedOnTheCpuAndSayWhy) {
  create(description(10, 4));
  Systems systems(10, 4);
  EXPECT_EQ(launches(systems.set()), 0);
  systems.expect_solved();
  EXPECT_THAT(kernel(), HasSubstr(".cpu"));
  EXPECT_THAT(explanation(), HasSubstr("factor-solve: sets in host memory are computed on the CPU: "));
  EXPECT_THAT(explanation(), HasSubstr(" predicted on the CPU, "));
  EXPECT_THAT(explanation(), HasSubstr(" on cuda with the set copied"));
}

TEST_F(HermitianPlacement, ManyGoToTheDevice) {
  create(description(1000000, 40));
  EXPECT_THAT(explanation(), HasSubstr("factor-solve: sets in host memory are computed on the device: "));
  EXPECT_THAT(explanation(), HasSubstr(" predicted on the CPU, "));
  create(description(30, 300));
  EXPECT_THAT(explanation(), HasSubstr("factor-solve: sets in host memory are computed on the device: "));
  Systems systems(30, 300);
  EXPECT_GT(launches(systems.set()), 0);
}

TEST_F(HermitianPlacement, PointersAndResidualsAreServedThere) {
  sxt_hermitian_options options = description(10, 4);
  options.pointer_array = 1, options.refine_steps = 1;
  create(options);
  Systems systems(10, 4);
  std::vector<void *> a, b;
  std::vector<double> residual(10, -1);
  for (std::size_t s = 0; s < 10; ++s) a.push_back(&systems.a[16 * s]), b.push_back(&systems.b[4 * s]);
  sxt_hermitian_set set = systems.set();
  set.a = set.b = nullptr, set.a_array = a.data(), set.b_array = b.data();
  set.residual = residual.data();
  EXPECT_EQ(launches(set), 0);
  systems.expect_solved();
  for (const double each : residual) EXPECT_LT(each, 1e-15);
}

TEST_F(HermitianPlacement, WhatIsFactoredIsSolvedWithLater) {
  create(description(10, 4));
  Systems systems(10, 4);
  sxt_hermitian_set set = systems.set();
  ASSERT_EQ(sxt_hermitian_factor(hermitian_, &set), SXT_OK) << sxt_last_error(context_);
  ASSERT_EQ(sxt_hermitian_solve(hermitian_, &set), SXT_OK) << sxt_last_error(context_);
  systems.expect_solved();
}

TEST_F(HermitianPlacement, WhatNamesADeviceStaysThere) {
  sxt_hermitian_options options = description(10, 4);
  options.kernel = "hermitian.block.cuda";
  create(options);
  EXPECT_GT(launches_of_few(), 0) << "the options name a kernel";
  EXPECT_THAT(explanation(), HasSubstr("on cuda: the options name a kernel"));
  ASSERT_EQ(sxt_context_force(context_, "sxt.hermitian/1", "hermitian.block.cuda"), SXT_OK);
  create(description(10, 4));
  EXPECT_GT(launches_of_few(), 0) << "a kernel of the device is forced";
  EXPECT_THAT(explanation(), HasSubstr("on cuda: a kernel is forced"));
  close();
  open("cuda");
  create(description(10, 4));
  EXPECT_GT(launches_of_few(), 0) << "the device was named";
  EXPECT_THAT(explanation(), HasSubstr("on cuda: the context names its device"));
  close();
  open("auto", 1);
  create(description(10, 4));
  EXPECT_GT(launches_of_few(), 0) << "deterministic";
  EXPECT_THAT(explanation(), HasSubstr("on cuda: the context is deterministic"));
}

TEST_F(HermitianPlacement, AStreamOfTheCallIsTheDevices) {
  create(description(10, 4));
  EXPECT_EQ(launches_of_few(), 0);
  void *const legacy = reinterpret_cast<void *>(1);
  Systems systems(10, 4);
  sxt_hermitian_set set = systems.set();
  set.stream = legacy;
  EXPECT_GT(launches(set), 0);
}

TEST_F(HermitianPlacement, ArraysInDeviceMemoryStayThere) {
  const sextant::DeviceBuffer memory(context_->context->device(), 400 * sizeof(double));
  auto *const values = memory.as<double>();
  sxt_hermitian_set set = Systems(0, 4).set();
  set.a = values, set.b = values + 160, set.info = reinterpret_cast<std::int32_t *>(values + 200);
  sxt_hermitian_options options = description(10, 4);
  options.space = SXT_SPACE_DEVICE;
  create(options);
  EXPECT_GT(launches(set), 0);
  EXPECT_THAT(explanation(), Not(HasSubstr("sets in host memory")));
  create(description(10, 4));
  EXPECT_GT(launches(set), 0) << "said to be in host memory, which it is not: the CPU must not touch it";
}

// Earlier work of the default stream may still write them: it is waited for.
TEST_F(HermitianPlacement, PinnedArraysAreWeighedToo) {
  create(description(10, 4));
  const Systems plain(10, 4);
  const sextant::DeviceBuffer memory(context_->context->device(), 240 * sizeof(double), SXT_SPACE_PINNED);
  auto *const values = memory.as<double>();
  std::copy(plain.a.begin(), plain.a.end(), values);
  std::copy(plain.b.begin(), plain.b.end(), values + 160);
  sxt_hermitian_set set = Systems(0, 4).set();
  set.a = values, set.b = values + 160, set.info = reinterpret_cast<std::int32_t *>(values + 200);
  const std::int64_t calls = fake_count("calls");
  EXPECT_EQ(launches(set), 0);
  EXPECT_GT(fake_count("calls") - calls, 6) << "where the three lie, and a copy that waits";
  for (std::int64_t i = 160; i < 200; ++i) EXPECT_NEAR(values[i], 1, 1e-12);
}

// The CPU was considered for both sets, and chosen for one.
TEST_F(HermitianPlacement, APlanSaysWhere) {
  const std::string path = testing::TempDir() + "sextant-hermitian-placement-plan.toml";
  create(description(30, 300));
  create(description(10, 4));
  ASSERT_EQ(sxt_plan_save(context_, path.c_str()), SXT_OK) << sxt_last_error(context_);
  close();
  open("auto");
  ASSERT_EQ(sxt_plan_load(context_, path.c_str(), 1), SXT_OK) << sxt_last_error(context_);
  create(description(10, 4));
  EXPECT_EQ(launches_of_few(), 0);
  EXPECT_THAT(explanation(), HasSubstr("factor-solve: sets in host memory are computed on the CPU: the loaded plan"));
  create(description(30, 300));
  EXPECT_THAT(explanation(), HasSubstr("factor-solve: sets in host memory are computed on the device: the loaded pl"));
}

}  // namespace
