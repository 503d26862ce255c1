// SPDX-License-Identifier: BSD-3-Clause
// Products, vector operations and reductions through the C interface, on numbers a person can check.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>

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
  EXPECT_EQ(sxt_min(vx.get(), &value), SXT_OK);
  EXPECT_EQ(value, -7);
  EXPECT_EQ(sxt_max(vx.get(), &value), SXT_OK);
  EXPECT_EQ(value, 3);
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
  EXPECT_NE(last_error(context).find("index[1] (counting from 0) is 3"), std::string::npos) << last_error(context);
}

TEST_F(OperationsTest, OperandsThatDoNotFitAreNamed) {
  std::vector<double> four(4);
  std::vector<float> singles(3);
  const Vector longer = wrap(context, four), single = wrap(context, singles);
  EXPECT_EQ(sxt_axpy(&two, vx.get(), longer.get()), SXT_E_DIMENSION);
  EXPECT_NE(last_error(context).find("x has 3 values, y 4"), std::string::npos) << last_error(context);
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

// The same array twice is one thing, two arrays that share a part another.
TEST_F(OperationsTest, OperandsAreTheSameOrApart) {
  std::vector<double> values = {1, 2, 3, 4};
  const auto part = [&](std::int64_t first) {
    sxt_vector *made = nullptr;
    EXPECT_EQ(sxt_vector_wrap(context.get(), 3, SXT_F64, SXT_SPACE_HOST, values.data() + first, &made), SXT_OK);
    return Vector(made);
  };
  const Vector low = part(0), same = part(0), high = part(1);
  EXPECT_EQ(sxt_axpy(&two, low.get(), same.get()), SXT_OK);
  EXPECT_EQ(values, (std::vector<double>{3, 6, 9, 4}));
  for (const auto &[x, y] : {std::pair{low.get(), high.get()}, {high.get(), low.get()}}) {
    EXPECT_EQ(sxt_copy(x, y), SXT_E_ARGUMENT);
    EXPECT_NE(last_error(context).find("x and y overlap"), std::string::npos) << last_error(context);
    EXPECT_EQ(sxt_waxpby(&two, x, &two, x, y), SXT_E_ARGUMENT);
    EXPECT_EQ(sxt_multiply(y, x, y), SXT_E_ARGUMENT);
    EXPECT_NE(last_error(context).find("y and w overlap"), std::string::npos) << last_error(context);
  }
  EXPECT_EQ(values, (std::vector<double>{3, 6, 9, 4}));
  double dot = 0;
  EXPECT_EQ(sxt_dot(low.get(), high.get(), &dot), SXT_OK);  // nothing is written
  EXPECT_EQ(dot, 3 * 6 + 6 * 9 + 9 * 4);
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
  EXPECT_EQ(sxt_min(empty.get(), &value), SXT_OK);
  EXPECT_EQ(value, std::numeric_limits<double>::infinity());
  EXPECT_EQ(sxt_max(empty.get(), &value), SXT_OK);
  EXPECT_EQ(value, -std::numeric_limits<double>::infinity());
}

Csr two_by_three() {
  Csr a;  // [[1, 2, 0], [0, 0, 3]]
  a.rows = 2;
  a.cols = 3;
  a.entry(0, 1), a.entry(1, 2), a.end_row();
  a.entry(2, 3), a.end_row();
  return a;
}

TEST_F(OperationsTest, SpmvWithScalarsAndTranspose) {
  const Matrix matrix = two_by_three().matrix(context);
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

TEST_F(OperationsTest, SpmvOnPlainArrays) {
  const Matrix matrix = two_by_three().matrix(context);
  double in[3] = {1, 2, 3}, out[3] = {1, 1, -5};
  EXPECT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, &two, matrix.get(), in, &minus, out), SXT_OK);
  EXPECT_EQ(std::vector<double>(out, out + 3), (std::vector<double>{9, 17, -5}));
  out[0] = out[1] = NAN;  // without beta, y is not read
  EXPECT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), in, nullptr, out), SXT_OK);
  EXPECT_EQ(std::vector<double>(out, out + 3), (std::vector<double>{5, 9, -5}));
  EXPECT_EQ(sxt_spmv_array(SXT_TRANSPOSE, nullptr, matrix.get(), out, nullptr, in), SXT_OK);
  EXPECT_EQ(std::vector<double>(in, in + 3), (std::vector<double>{5, 10, 27}));
  EXPECT_EQ(sxt_spmv_array(3, nullptr, matrix.get(), in, nullptr, out), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), nullptr, nullptr, out), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), in, nullptr, nullptr), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), in, nullptr, in + 2), SXT_E_ARGUMENT);
  EXPECT_NE(last_error(context).find("x and y overlap"), std::string::npos);
  EXPECT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, nullptr, in, nullptr, out), SXT_E_ARGUMENT);
}

TEST_F(OperationsTest, SpmvOnColumnsOfABlock) {
  Csr a;  // 7 x 5
  a.rows = 7;
  a.cols = 5;
  for (int i = 0; i < 7; ++i) {
    for (int j = 0; j < 5; ++j)
      if ((i + 2 * j) % 3 == 0) a.entry(j, i - 0.5 * j);
    a.end_row();
  }
  const Matrix matrix = a.matrix(context);
  for (const std::int64_t columns : {1, 3, 40})  // more than fit one pass
    for (const sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE}) {
      const bool plain = op == SXT_NO_TRANSPOSE;
      const std::int64_t in = plain ? 5 : 7, out = plain ? 7 : 5, ldx = in + 2, ldy = out + 1;
      std::vector<double> x(static_cast<std::size_t>(columns * ldx)), y(static_cast<std::size_t>(columns * ldy), 0.25);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::cos(static_cast<double>(i));
      ASSERT_EQ(sxt_spmv_block(op, &two, matrix.get(), columns, x.data(), ldx, &minus, y.data(), ldy), SXT_OK)
          << last_error(context);
      for (std::int64_t c = 0; c < columns; ++c) {
        std::vector<double> want(static_cast<std::size_t>(out), minus * 0.25);
        for (std::int64_t i = 0; i < 7; ++i)
          for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
            want[plain ? i : a.col[k]] += two * a.values[k] * x[c * ldx + (plain ? a.col[k] : i)];
        for (std::int64_t i = 0; i < out; ++i) EXPECT_NEAR(y[c * ldy + i], want[i], 1e-13) << columns << ' ' << c;
        EXPECT_EQ(y[c * ldy + out], 0.25) << "between columns";
      }
    }
  double x[10] = {}, y[14] = {};
  const auto fails = [&](std::int64_t n_rhs, std::int64_t ldx, std::int64_t ldy, double *to, const char *words) {
    const sxt_status status = sxt_spmv_block(SXT_NO_TRANSPOSE, nullptr, matrix.get(), n_rhs, x, ldx, nullptr, to, ldy);
    EXPECT_NE(last_error(context).find(words), std::string::npos) << last_error(context);
    return status;
  };
  EXPECT_EQ(fails(-1, 5, 7, y, "n_rhs"), SXT_E_ARGUMENT);
  EXPECT_EQ(fails(2, 4, 7, y, "ldx is 4"), SXT_E_DIMENSION);
  EXPECT_EQ(fails(2, 5, 6, y, "ldy is 6"), SXT_E_DIMENSION);
  EXPECT_EQ(fails(INT64_MAX / 8, 5, 7, y, "address space"), SXT_E_OVERFLOW);
  EXPECT_EQ(fails(2, 5, 7, nullptr, "y is NULL"), SXT_E_ARGUMENT);
  EXPECT_EQ(fails(2, 5, 7, x + 9, "overlap"), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_spmv_block(SXT_NO_TRANSPOSE, nullptr, matrix.get(), 0, nullptr, 5, nullptr, nullptr, 7), SXT_OK);
}

// The names of all kernels for products on the CPU.
std::set<std::string> spmv_kernels() {
  std::set<std::string> names;
  for (std::int64_t i = 0; i < sxt_kernel_count(); ++i) {
    sxt_kernel_info kernel{};
    kernel.struct_size = sizeof kernel;
    EXPECT_EQ(sxt_kernel_get(i, &kernel), SXT_OK);
    if (std::string(kernel.kind) == "sxt.spmv/1" && std::string(kernel.device) == "cpu") names.insert(kernel.name);
  }
  return names;
}

// Forces each of the kernels on one matrix and compares its product; returns those that refused it, with the reason.
std::map<std::string, std::string> refusals_of_forced(const Context &context, const Csr &a,
                                                      const sxt_matrix_options *options,
                                                      const std::set<std::string> &kernels) {
  std::vector<double> in(static_cast<std::size_t>(a.cols)), out(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = std::sin(static_cast<double>(i));
  const std::vector<double> expected = a.times(in);
  const Matrix matrix = make<Matrix>([&](sxt_matrix **made) {
    return sxt_matrix_from_csr(context.get(), a.rows, a.cols, a.ptr.data(), a.col.data(), a.values.data(), options,
                               made);
  });
  const Vector vin = wrap(context, in), vout = wrap(context, out);
  std::map<std::string, std::string> refusals;
  for (const std::string &kernel : kernels) {
    EXPECT_EQ(sxt_context_force(context.get(), "sxt.spmv/1", kernel.c_str()), SXT_OK);
    std::fill(out.begin(), out.end(), -1);
    const sxt_status status = sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), vin.get(), nullptr, vout.get());
    if (status == SXT_E_NOT_SUPPORTED) {
      refusals[kernel] = last_error(context);
      continue;
    }
    EXPECT_EQ(status, SXT_OK) << kernel << ": " << last_error(context);
    for (std::size_t k = 0; k < out.size(); ++k) EXPECT_NEAR(out[k], expected[k], 1e-13) << kernel << " at " << k;
  }
  return refusals;
}

// Every kernel that can be forced gives the same product: all but the one for symmetric matrices on a matrix that is
// not symmetric, and all of them on one that is stated to be.
TEST_F(OperationsTest, EveryForcedSpmvKernelAgrees) {
  const std::set<std::string> kernels = spmv_kernels();
  EXPECT_GE(kernels.size(), 5u);
  Csr general = laplacian(23, 0.25);
  general.values[1] = 0.5;  // right of the diagonal of row 0
  const auto refused = refusals_of_forced(context, general, nullptr, kernels);
  ASSERT_EQ(refused.size(), 1u) << ::testing::PrintToString(refused);
  EXPECT_EQ(refused.begin()->first, "spmv.dia-symmetric.cpu");
  EXPECT_NE(refused.begin()->second.find("the matrix is not known to be symmetric"), std::string::npos)
      << refused.begin()->second;
  sxt_matrix_options options = matrix_options();
  options.symmetry = SXT_SYMMETRIC;
  const auto none = refusals_of_forced(context, laplacian(23, 0.25), &options, kernels);
  EXPECT_TRUE(none.empty()) << ::testing::PrintToString(none);
}

}  // namespace
}  // namespace api_test
