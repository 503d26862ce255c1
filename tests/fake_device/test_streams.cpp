// SPDX-License-Identifier: BSD-3-Clause
// Streams of the caller that are destroyed before the objects that were used on them: the library does not touch them
// any more.
#include <cstdint>
#include <vector>

#include "abi/handles.hpp"
#include "tests/fake_device/fixture.hpp"

namespace {

using namespace fake_test;

class FakeStreams : public FakeDevice {
 protected:
  void SetUp() override {
    FakeDevice::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(open(&context_), SXT_OK) << sxt_last_error(nullptr);
    const sextant::Device &device = context_->context->device();
    ASSERT_EQ(device.ops().stream_create(device.handle(), &stream_), SXT_OK);
    before_ = fake_count("uses of destroyed streams");
  }
  void destroy_stream() {
    const sextant::Device &device = context_->context->device();
    device.ops().stream_destroy(device.handle(), stream_);
  }
  // Leaves nothing, and touched no stream that was gone.
  void end() {
    sxt_context_destroy(context_);
    EXPECT_EQ(fake_count("uses of destroyed streams"), before_);
    EXPECT_EQ(left_behind(), "");
    EXPECT_EQ(faults(), "");
  }
  sxt_context *context_ = nullptr;
  void *stream_ = nullptr;
  std::int64_t before_ = 0;
};

TEST_F(FakeStreams, MayBeDestroyedOnceTheContextNoLongerUsesThem) {
  constexpr std::int32_t n = 100;
  std::vector<std::int32_t> ptr{0}, col;
  std::vector<double> values, b(n, 1), x(n);
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
      col.push_back(j);
      values.push_back(i == j ? 3 : -1);
    }
    ptr.push_back(static_cast<std::int32_t>(col.size()));
  }
  sxt_matrix *matrix = nullptr;
  sxt_pcg *pcg = nullptr;
  sxt_vector *u = nullptr, *v = nullptr;
  ASSERT_EQ(sxt_context_set_stream(context_, stream_), SXT_OK) << sxt_last_error(context_);
  ASSERT_EQ(sxt_matrix_from_csr(context_, n, n, ptr.data(), col.data(), values.data(), nullptr, &matrix), SXT_OK);
  ASSERT_EQ(sxt_vector_create(context_, n, SXT_F64, &u), SXT_OK);
  ASSERT_EQ(sxt_vector_create(context_, n, SXT_F64, &v), SXT_OK);
  ASSERT_EQ(sxt_pcg_create(matrix, nullptr, &pcg), SXT_OK) << sxt_last_error(context_);
  const auto use = [&] {
    double dot = 0;
    EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix, u, nullptr, v), SXT_OK) << sxt_last_error(context_);
    EXPECT_EQ(sxt_dot(u, v, &dot), SXT_OK) << sxt_last_error(context_);
    EXPECT_EQ(sxt_pcg_solve(pcg, u, v, nullptr, nullptr), SXT_OK) << sxt_last_error(context_);
    EXPECT_EQ(sxt_pcg_solve_array(pcg, n, b.data(), x.data(), nullptr, nullptr), SXT_OK) << sxt_last_error(context_);
  };
  use();
  ASSERT_EQ(sxt_context_set_stream(context_, nullptr), SXT_OK);
  destroy_stream();
  use();
  sxt_pcg_destroy(pcg);
  sxt_vector_destroy(u);
  sxt_vector_destroy(v);
  sxt_matrix_destroy(matrix);
  end();
}

TEST_F(FakeStreams, OfHermitianSetsMayBeDestroyedBeforeTheHandle) {
  sxt_hermitian_options options;
  sxt_hermitian_options_init(&options, sizeof options);
  options.batch = 8;
  options.n = 4;
  options.refine_steps = 1;  // allocates work memory
  sxt_hermitian *hermitian = nullptr;
  sxt_vector *memory = nullptr;
  ASSERT_EQ(sxt_hermitian_create(context_, &options, &hermitian), SXT_OK) << sxt_last_error(context_);
  ASSERT_EQ(sxt_vector_create(context_, 8 * 32, SXT_F64, &memory), SXT_OK);
  sxt_hermitian_set set;
  sxt_hermitian_set_init(&set, sizeof set);
  auto *values = static_cast<double *>(sxt_vector_data(memory));
  set.a = values;
  set.b = values + 8 * 16;
  set.info = reinterpret_cast<std::int32_t *>(values + 8 * 20);
  set.stream = stream_;
  ASSERT_EQ(sxt_hermitian_factor_solve(hermitian, &set), SXT_OK) << sxt_last_error(context_);
  destroy_stream();
  set.stream = nullptr;
  EXPECT_EQ(sxt_hermitian_factor_solve(hermitian, &set), SXT_OK) << sxt_last_error(context_);
  sxt_hermitian_destroy(hermitian);
  sxt_vector_destroy(memory);
  end();
}

}  // namespace
