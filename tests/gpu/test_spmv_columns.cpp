// SPDX-License-Identifier: BSD-3-Clause
// Products with several columns through the C interface on a GPU.
#include <cstdint>

#include "pcg.hpp"

namespace {

using namespace gpu_test;

class SpmvColumnsGpu : public PcgGpu {};

// Columns of host arrays with gaps between them, in more than one pass: each column is the product with its own x, and
// gaps are not changed.
TEST_F(SpmvColumnsGpu, EachIsAProductOfItsOwn) {
  const Csr a = shuffled(laplacian(25));
  const Matrix matrix = matrix_of(a);
  const std::int64_t rows = a.rows, columns = 37, ldx = rows + 3, ldy = rows + 5;
  const double alpha = -2, beta = 0.5;
  std::vector<double> x(static_cast<std::size_t>(columns * ldx)), y(static_cast<std::size_t>(columns * ldy)), single;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::cos(static_cast<double>(i));
  const std::vector<double> before = y;
  for (const sxt_op op : {SXT_NO_TRANSPOSE, SXT_TRANSPOSE}) {
    y = before;
    ASSERT_EQ(sxt_spmv_block(op, &alpha, matrix.get(), columns, x.data(), ldx, &beta, y.data(), ldy), SXT_OK)
        << sxt_last_error(context_.get());
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto first = before.begin() + c * ldy;
      single.assign(first, first + rows);
      ASSERT_EQ(sxt_spmv_array(op, &alpha, matrix.get(), x.data() + c * ldx, &beta, single.data()), SXT_OK);
      for (std::int64_t i = 0; i < rows; ++i) ASSERT_NEAR(y[c * ldy + i], single[i], 1e-12) << c << ' ' << i;
      for (std::int64_t i = rows; i < ldy; ++i) ASSERT_EQ(y[c * ldy + i], first[i]) << "between columns";
    }
  }
}

}  // namespace
