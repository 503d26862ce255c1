// SPDX-License-Identifier: BSD-3-Clause
// Products, vector operations and reductions through the C interface, on numbers a person can check.
#include <cmath>
#include <complex>
#include <cstdint>

#include "tests/api/support.hpp"

namespace api_test {
namespace {

class OperationsTest : public testing::Test {
 protected:
  Context context = cpu();
  std::vector<double> x{1, 2, 3}, y{10, 20, 30}, w{0, 0, 0};
  Vector vx = wrap(context, x), vy = wrap(context, y), vw = wrap(context, w);
  const double two = 2, minus = -1;
};

TEST_F(OperationsTest, ElementWise) {
  EXPECT_EQ(sxt_axpy(&two, vx.get(), vy.get()), SXT_OK);
  EXPECT_EQ(y, (std::vector<double>{12, 24, 36}));
  EXPECT_EQ(sxt_axpby(&two, vx.get(), &minus, vy.get()), SXT_OK);
  EXPECT_EQ(y, (std::vector<double>{-10, -20, -30}));
  EXPECT_EQ(sxt_waxpby(&two, vx.get(), &minus, vy.get(), vw.get()), SXT_OK);
  EXPECT_EQ(w, (std::vector<double>{12, 24, 36}));
  EXPECT_EQ(sxt_multiply(vx.get(), vx.get(), vw.get()), SXT_OK);
  EXPECT_EQ(w, (std::vector<double>{1, 4, 9}));
  EXPECT_EQ(sxt_scale(&two, vw.get()), SXT_OK);
  EXPECT_EQ(w, (std::vector<double>{2, 8, 18}));
  EXPECT_EQ(sxt_fill(&two, vw.get()), SXT_OK);
  EXPECT_EQ(w, (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(sxt_copy(vx.get(), vw.get()), SXT_OK);
  EXPECT_EQ(w, x);
}

TEST_F(OperationsTest, Reductions) {
  double value = 0;
  EXPECT_EQ(sxt_sum(vy.get(), &value), SXT_OK);
  EXPECT_EQ(value, 60);
  EXPECT_EQ(sxt_dot(vx.get(), vy.get(), &value), SXT_OK);
  EXPECT_EQ(value, 140);
  EXPECT_EQ(sxt_nrm2(vx.get(), &value), SXT_OK);
  EXPECT_DOUBLE_EQ(value, std::sqrt(14.0));
  x[1] = -7;
  EXPECT_EQ(sxt_amax(vx.get(), &value), SXT_OK);
  EXPECT_EQ(value, 7);
  EXPECT_EQ(sxt_asum(vx.get(), &value), SXT_OK);
  EXPECT_EQ(value, 11);
  std::int64_t index = -5;
  EXPECT_EQ(sxt_iamax(vx.get(), &index), SXT_OK);
  EXPECT_EQ(index, 1);
  const sxt_vector *u[] = {vx.get(), vx.get()}, *v[] = {vx.get(), vy.get()};
  double two_dots[2];
  EXPECT_EQ(sxt_multidot(2, u, v, two_dots), SXT_OK);
  EXPECT_EQ(two_dots[0], 59);
  EXPECT_EQ(two_dots[1], -40);
  EXPECT_EQ(sxt_multidot(9, u, v, two_dots), SXT_E_ARGUMENT);
}

TEST_F(OperationsTest, Nrm2NeitherOverflowsNorUnderflows) {
  std::vector<double> huge(3000, 1e200), tiny(3000, 1e-200);
  const Vector vh = wrap(context, huge), vt = wrap(context, tiny);
  double value = 0;
  EXPECT_EQ(sxt_nrm2(vh.get(), &value), SXT_OK);
  EXPECT_NEAR(value / (1e200 * std::sqrt(3000.0)), 1, 1e-14);
  EXPECT_EQ(sxt_nrm2(vt.get(), &value), SXT_OK);
  EXPECT_NEAR(value / (1e-200 * std::sqrt(3000.0)), 1, 1e-14);
}

TEST_F(OperationsTest, ComplexDotConjugatesOnlyWhereItSays) {
  using Z = std::complex<float>;
  std::vector<Z> a{{0, 1}}, b{{0, 1}};
  const Vector va = wrap(context, a, SXT_C64), vb = wrap(context, b, SXT_C64);
  Z value;
  EXPECT_EQ(sxt_dot(va.get(), vb.get(), &value), SXT_OK);
  EXPECT_EQ(value, Z(-1, 0));
  EXPECT_EQ(sxt_dotc(va.get(), vb.get(), &value), SXT_OK);
  EXPECT_EQ(value, Z(1, 0));
}

TEST_F(OperationsTest, GatherAndScatterCheckEveryIndex) {
  const std::int32_t reversed[] = {2, 1, 0}, beyond[] = {0, 3, 1};
  EXPECT_EQ(sxt_gather(vx.get(), reversed, SXT_I32, vw.get()), SXT_OK);
  EXPECT_EQ(w, (std::vector<double>{3, 2, 1}));
  EXPECT_EQ(sxt_scatter(vw.get(), reversed, SXT_I32, vy.get()), SXT_OK);
  EXPECT_EQ(y, x);
  EXPECT_EQ(sxt_gather(vx.get(), beyond, SXT_I32, vw.get()), SXT_E_INDEX);
  EXPECT_NE(last_error(context).find("index[1] is 3"), std::string::npos) << last_error(context);
}

TEST_F(OperationsTest, OperandsThatDoNotFitAreNamed) {
  std::vector<double> four(4);
  std::vector<float> singles(3);
  const Vector longer = wrap(context, four), single = wrap(context, singles);
  EXPECT_EQ(sxt_axpy(&two, vx.get(), longer.get()), SXT_E_DIMENSION);
  EXPECT_NE(last_error(context).find("y has 4 values"), std::string::npos) << last_error(context);
  EXPECT_EQ(sxt_axpy(&two, vx.get(), single.get()), SXT_E_TYPE);
  EXPECT_EQ(sxt_axpy(nullptr, vx.get(), vy.get()), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_axpy(&two, nullptr, vy.get()), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_copy(vx.get(), nullptr), SXT_E_ARGUMENT);
  const Context other = cpu();
  const Vector foreign = wrap(other, four);
  EXPECT_EQ(sxt_copy(vx.get(), foreign.get()), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_dot(vx.get(), vy.get(), nullptr), SXT_E_ARGUMENT);
  sxt_vector *none = nullptr;
  EXPECT_EQ(sxt_vector_wrap(context.get(), -1, SXT_F64, SXT_SPACE_HOST, x.data(), &none), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_vector_wrap(context.get(), 3, SXT_F64, SXT_SPACE_HOST, nullptr, &none), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_vector_wrap(context.get(), 3, 17, SXT_SPACE_HOST, x.data(), &none), SXT_E_TYPE);
  EXPECT_EQ(sxt_vector_create(context.get(), INT64_MAX / 4, SXT_F64, &none), SXT_E_OVERFLOW);
  EXPECT_EQ(none, nullptr);
}

TEST_F(OperationsTest, EmptyVectors) {
  std::vector<double> nothing;
  const Vector empty = wrap(context, nothing);
  EXPECT_EQ(sxt_axpy(&two, empty.get(), empty.get()), SXT_OK);
  double value = 5;
  EXPECT_EQ(sxt_nrm2(empty.get(), &value), SXT_OK);
  EXPECT_EQ(value, 0);
  std::int64_t index = 5;
  EXPECT_EQ(sxt_iamax(empty.get(), &index), SXT_OK);
  EXPECT_EQ(index, -1);
}

TEST_F(OperationsTest, SpmvWithScalarsAndTranspose) {
  Csr a;  // [[1, 2, 0], [0, 0, 3]]
  a.rows = 2;
  a.cols = 3;
  a.entry(0, 1), a.entry(1, 2), a.end_row();
  a.entry(2, 3), a.end_row();
  const Matrix matrix = a.matrix(context);
  std::vector<double> short_y{1, 1}, out{0, 0, 0};
  const Vector vs = wrap(context, short_y), vo = wrap(context, out);
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, &two, matrix.get(), vx.get(), &minus, vs.get()), SXT_OK);
  EXPECT_EQ(short_y, (std::vector<double>{9, 17}));
  EXPECT_EQ(sxt_spmv(SXT_TRANSPOSE, nullptr, matrix.get(), vs.get(), nullptr, vo.get()), SXT_OK);
  EXPECT_EQ(out, (std::vector<double>{9, 18, 51}));
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), vs.get(), nullptr, vs.get()), SXT_E_DIMENSION);
  EXPECT_NE(last_error(context).find("a is 2 x 3"), std::string::npos);
  EXPECT_EQ(sxt_spmv(7, nullptr, matrix.get(), vx.get(), nullptr, vs.get()), SXT_E_ARGUMENT);
}

// Every kernel that can be forced gives the same product.
TEST_F(OperationsTest, EveryForcedSpmvKernelAgrees) {
  const Csr a = laplacian(23, 0.25);
  std::vector<double> in(static_cast<std::size_t>(a.cols)), out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = std::sin(static_cast<double>(i));
  const std::vector<double> expected = a.times(in);
  const Matrix matrix = a.matrix(context);
  const Vector vin = wrap(context, in), vout = wrap(context, out);
  int tried = 0;
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info kernel{};
    kernel.struct_size = sizeof kernel;
    ASSERT_EQ(sxt_kernel_get(i, &kernel), SXT_OK);
    if (std::string(kernel.kind) != "sxt.spmv/1" || std::string(kernel.device) != "cpu") continue;
    ASSERT_EQ(sxt_context_force(context.get(), kernel.kind, kernel.name), SXT_OK);
    std::fill(out.begin(), out.end(), -1);
    ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), vin.get(), nullptr, vout.get()), SXT_OK)
        << last_error(context);
    for (std::size_t k = 0; k < out.size(); ++k) ASSERT_NEAR(out[k], expected[k], 1e-13) << kernel.name << " at " << k;
    ++tried;
  }
  EXPECT_GE(tried, 5);
}

}  // namespace
}  // namespace api_test
