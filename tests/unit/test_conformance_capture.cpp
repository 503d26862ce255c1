// SPDX-License-Identifier: BSD-3-Clause
// The proof of SXT_KERNEL_CAPTURABLE, on a device whose streams can be captured.
#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include "core/conformance/capture_check.hpp"
#include "core/device/host.hpp"
#include "sextant/plugin/kinds/spmv.h"
#include "test_registry_util.hpp"
#include "tests/plugins/mocks/scale.h"

using namespace registry_test;
using sextant::Device;
using sextant::DeviceBuffer;
using sextant::conformance::CaptureInput;
using sextant::conformance::prove_capturable;
using sextant::registry::Kernel;
using testing::HasSubstr;

namespace {

class Capture : public testing::Test {
 protected:
  Capture() {
    registry_.load_path(mock("scale"), {});
    registry_.load_path(mock("device-mock"), {});
    registry_.load_path(mock("kernels-mock"), {});
    device_ =
        std::make_unique<Device>(registry_.find("device.mock")->table, 0, 0, sextant::Allocator{}, sextant::LogSink{});
  }
  // The mock's device memory is the host's, so tests may write it.
  DeviceBuffer doubles(const std::vector<double> &values) {
    DeviceBuffer buffer(*device_, 8 * values.size());
    std::memcpy(buffer.data(), values.data(), buffer.bytes());
    return buffer;
  }
  static sxt_bound bind(const Kernel &kernel, const void *state = nullptr) {
    return {kernel.name(), state, nullptr, kernel.table.run, 0, 0, kernel.table.flags, 0};
  }
  // The message of the proof for y = factor x; "" when it is proven.
  std::string prove_scale(const char *kernel, const double *changed_factor) {
    DeviceBuffer factor = doubles({2}), x = doubles({1, 2, 3}), y = doubles({-1, -1, -1});
    scale_args args{{sizeof args, KIND_SCALE}, 3, {factor.data(), 1, 0}, x.as<double>(), y.as<double>()};
    const std::vector<CaptureInput> inputs{{factor.data(), 8, 8, changed_factor}, {x.data(), 24, 8}};
    std::string said;
    try {
      prove_capturable(bind(*registry_.find(kernel)), *device_, &args.h, inputs, {{y.data(), 24}});
    } catch (const sextant::Error &problem) {
      said = problem.what();
      status_ = problem.status();
    }
    EXPECT_EQ(*factor.as<double>(), 2);  // all put back
    EXPECT_EQ(x.as<double>()[0], 1);
    EXPECT_EQ(y.as<double>()[2], -1);
    return said;
  }
  Registry registry_{"/nonexistent"};
  std::unique_ptr<Device> device_;
  sxt_status status_ = SXT_OK;
  const double five_ = 5;
};

TEST_F(Capture, AGoodKernelIsProven) { EXPECT_EQ(prove_scale("com.example.scale.mock", &five_), ""); }

TEST_F(Capture, AFrozenScalarIsFound) {
  EXPECT_THAT(prove_scale("com.example.scale.mock-frozen", &five_),
              HasSubstr("replayed on changed inputs, output 0 differs from a plain run's at byte"));
  EXPECT_EQ(status_, SXT_E_PLUGIN);
}

TEST_F(Capture, WorkOutsideTheStreamIsFound) {
  EXPECT_THAT(prove_scale("com.example.scale.mock-outside", &five_), HasSubstr("works outside the exec's stream"));
  EXPECT_EQ(status_, SXT_E_PLUGIN);
}

TEST_F(Capture, InputsThatChangeNothingProveNothing) {
  DeviceBuffer factor = doubles({2}), x = doubles({4, 4, 4}), y = doubles({0, 0, 0});  // rotated they are the same
  scale_args args{{sizeof args, KIND_SCALE}, 3, {factor.data(), 1, 0}, x.as<double>(), y.as<double>()};
  try {
    prove_capturable(bind(*registry_.find("com.example.scale.mock")), *device_, &args.h, {{x.data(), 24, 8}},
                     {{y.data(), 24}});
    FAIL() << "took a proof that proves nothing";
  } catch (const sextant::Error &problem) {
    EXPECT_EQ(problem.status(), SXT_E_ARGUMENT);
  }
}

TEST_F(Capture, ADeviceThatCannotCaptureIsReported) {
  registry_.load_path(own_plugin("device/device-cpu.so"), {});
  Device cpu(registry_.find("device.cpu")->table, 0, 1, {}, {});
  scale_args args{};
  try {
    prove_capturable(bind(*registry_.find("com.example.scale.reference")), cpu, &args.h, {}, {});
    FAIL();
  } catch (const sextant::Error &problem) {
    EXPECT_EQ(problem.status(), SXT_E_NOT_SUPPORTED);
    EXPECT_STREQ(problem.what(), "device 'cpu' cannot capture");
  }
}

// y = 2 A x + y with A on the device, through the mock's own storage and product.
TEST_F(Capture, AProductReadsItsStorageAndItsOutput) {
  registry_.load_path(own_plugin("cpu/storage-csr.so"), {});  // these define the kinds
  registry_.load_path(own_plugin("cpu/spmv-reference.so"), {});
  const Kernel &storage = *registry_.find("com.example.storage.csr.mock"),
               &spmv = *registry_.find("com.example.spmv.csr.mock");
  const std::vector<std::int32_t> row_ptr{0, 2, 3}, col{0, 1, 1};
  const std::vector<double> values{1, 2, 3};
  sxt_csr csr{{{sizeof csr, SXT_KIND_STORAGE_CSR}, SXT_F64, SXT_I32, SXT_I32, SXT_SPACE_HOST, SXT_GENERAL, 0, 2, 2, 3},
              row_ptr.data(),
              col.data(),
              values.data()};
  sextant::Call call(*device_);
  const sxt_exec exec = make_exec(call);
  sxt_problem problem{sizeof problem, nullptr, &csr.s.h, nullptr};
  void *stored = nullptr;
  ASSERT_EQ(storage.table.prepare(&problem, nullptr, nullptr, &exec, &stored), SXT_OK);
  const auto *view = static_cast<const sxt_storage_ops *>(storage.table.ops)->view(stored);
  EXPECT_EQ(view->space, SXT_SPACE_DEVICE);

  DeviceBuffer alpha = doubles({2}), beta = doubles({1}), x = doubles({1, 10}), y = doubles({0.5, 0.25});
  sxt_spmv_args args{};
  args.h = {sizeof args, SXT_KIND_SPMV};
  args.n_rhs = 1;
  args.alpha = {alpha.data(), 1, 0};
  args.beta = {beta.data(), 1, 0};
  args.x = x.data();
  args.y = y.data();
  EXPECT_NO_THROW(prove_capturable(bind(spmv, view), *device_, &args.h,
                                   {{x.data(), 16, 8}, {y.data(), 16, 8}, {alpha.data(), 8, 8, &five_}},
                                   {{y.data(), 16}}));
  sextant::Call run_call(*device_);
  sxt_exec run_exec = make_exec(run_call);
  ASSERT_EQ(device_->ops().stream_create(device_->handle(), &run_exec.stream), SXT_OK);
  ASSERT_EQ(spmv.table.run(view, nullptr, &args.h, &run_exec), SXT_OK);
  EXPECT_EQ(y.as<double>()[0], 2 * 21 + 0.5);
  EXPECT_EQ(y.as<double>()[1], 2 * 30 + 0.25);
  device_->ops().stream_destroy(device_->handle(), run_exec.stream);
  storage.table.release(stored);
  EXPECT_EQ(sextant::live_allocations(*device_), 0u);
}

}  // namespace
