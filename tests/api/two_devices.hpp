// SPDX-License-Identifier: BSD-3-Clause
// Two contexts, each on its own device: calls on one refuse objects of the other, through the C interface. For GPUs and
// for the fake device.
#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "support.hpp"

namespace api_test {

inline Vector zeros_on(sxt_context *context, std::int64_t n) {
  return make<Vector>([&](sxt_vector **out) { return sxt_vector_create(context, n, SXT_F64, out); });
}
inline Matrix matrix_on(sxt_context *context, const Csr &a) {
  return make<Matrix>([&](sxt_matrix **out) {
    return sxt_matrix_from_csr(context, a.rows, a.cols, a.ptr.data(), a.col.data(), a.values.data(), nullptr, out);
  });
}

// Arrays on the other device, where calls take arrays.
inline void refuses_arrays(sxt_context *here, const Matrix &matrix, void *other, const std::string &lies) {
  using testing::HasSubstr;
  sxt_vector *wrapped = nullptr;
  EXPECT_EQ(sxt_vector_wrap(here, 3, SXT_F64, SXT_SPACE_DEVICE, other, &wrapped), SXT_E_ARGUMENT);
  EXPECT_THAT(sxt_last_error(here), HasSubstr("data lies on " + lies));
  const std::vector<std::int32_t> row_ptr{0, 1, 2, 3}, col{0, 1, 2};
  sxt_matrix *made = nullptr;
  EXPECT_EQ(sxt_matrix_from_csr(here, 3, 3, row_ptr.data(), col.data(), other, nullptr, &made), SXT_E_ARGUMENT);
  EXPECT_THAT(sxt_last_error(here), HasSubstr("values lies in the memory of " + lies));

  std::vector<double> host(3, 1);
  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 3, other, host.data(), nullptr, nullptr), SXT_E_ARGUMENT);
  EXPECT_THAT(sxt_last_error(here), HasSubstr("b lies on " + lies));
  EXPECT_EQ(sxt_pcg_solve_array(pcg.get(), 3, host.data(), other, nullptr, nullptr), SXT_E_ARGUMENT);
  EXPECT_THAT(sxt_last_error(here), HasSubstr("x lies on " + lies));
  EXPECT_EQ(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), other, nullptr, host.data()), SXT_E_ARGUMENT);
  EXPECT_THAT(sxt_last_error(here), HasSubstr("x lies on " + lies));
  EXPECT_EQ(host, std::vector<double>(3, 1));

  sxt_hermitian_options options;
  sxt_hermitian_options_init(&options, sizeof options);
  options.batch = options.n = 1;
  sxt_hermitian *hermitian = nullptr;
  ASSERT_EQ(sxt_hermitian_create(here, &options, &hermitian), SXT_OK) << sxt_last_error(here);
  const Vector own = zeros_on(here, 3);
  sxt_hermitian_set set;
  sxt_hermitian_set_init(&set, sizeof set);
  set.a = other, set.b = sxt_vector_data(own.get());
  set.info = static_cast<std::int32_t *>(static_cast<void *>(static_cast<double *>(set.b) + 1));
  EXPECT_EQ(sxt_hermitian_factor_solve(hermitian, &set), SXT_E_ARGUMENT);
  EXPECT_THAT(sxt_last_error(here), HasSubstr("a lies on " + lies));
  sxt_hermitian_destroy(hermitian);
}

// Vectors and streams of a context on the other device, `there`, whose ordinal is given.
inline void refuses_the_other_device(sxt_context *here, sxt_context *there, std::int32_t ordinal) {
  using testing::HasSubstr;
  const Matrix matrix = matrix_on(here, diagonal({1, 2, 3}));
  const Vector own = zeros_on(here, 3), other = zeros_on(there, 3);
  refuses_arrays(here, matrix, sxt_vector_data(other.get()), "device " + std::to_string(ordinal));

  const Pcg pcg = make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
  EXPECT_EQ(sxt_pcg_solve(pcg.get(), other.get(), own.get(), nullptr, nullptr), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_pcg_solve(pcg.get(), own.get(), other.get(), nullptr, nullptr), SXT_E_ARGUMENT);
  EXPECT_THAT(sxt_last_error(here), HasSubstr("another context"));
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), other.get(), nullptr, other.get()), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), own.get(), nullptr, other.get()), SXT_E_ARGUMENT);
  EXPECT_THAT(sxt_last_error(here), HasSubstr("another context"));
  EXPECT_EQ(sxt_copy(other.get(), own.get()), SXT_E_ARGUMENT);
  EXPECT_THAT(sxt_last_error(here), HasSubstr("another context"));

  sextant::Device &its = there->context->device();
  void *stream = nullptr;
  ASSERT_EQ(its.ops().stream_create(its.handle(), &stream), SXT_OK);
  EXPECT_EQ(sxt_context_set_stream(here, stream), SXT_E_ARGUMENT);
  EXPECT_THAT(sxt_last_error(here), HasSubstr("another device"));
  its.ops().stream_destroy(its.handle(), stream);
}

}  // namespace api_test
