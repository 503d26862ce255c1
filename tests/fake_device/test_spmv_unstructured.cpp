// SPDX-License-Identifier: BSD-3-Clause
// Products on coordinates, SELL, hubs and cuSPARSE over the fake libraries: every vendor call fails once while a kernel
// is chosen, built, run and given new values; nothing leaks, and every failure has a message.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sextant/plugin/kinds/spmv.h"
#include "tests/fake_device/fixture.hpp"

namespace {

using namespace fake_test;

// What these kernels hold beside what the fixture counts.
std::string handles_left() {
  return left_behind() + std::string(fake_count("cusparse") ? "handles " : "") +
         std::string(fake_count("descriptors") ? "descriptors" : "");
}

// A tridiagonal matrix with a long last row.
struct Arrays {
  static constexpr std::int32_t n = 600;
  std::vector<std::int32_t> row_ptr{0}, col;
  std::vector<double> values;
  Arrays() {
    for (std::int32_t i = 0; i < n; ++i) {
      for (std::int32_t j = i + 1 < n ? std::max(0, i - 1) : 0; j < std::min(n, i + 2); ++j) col.push_back(j);
      row_ptr.push_back(static_cast<std::int32_t>(col.size()));
    }
    values.assign(col.size(), 1.5);
  }
};

class Program {
 public:
  explicit Program(const char *kernel) : kernel_(kernel) {}
  void run() {
    sxt_context *context = nullptr;
    if (!good(open(&context), nullptr)) return;
    multiply(context);
    sxt_context_destroy(context);
  }
  int failed() const { return failed_; }
  bool finished() const { return finished_; }
  const std::string &sentence() const { return sentence_; }

 private:
  bool good(sxt_status status, const sxt_context *context) {
    if (status >= 0) return true;
    ++failed_;
    sentence_ = sxt_last_error(context);
    EXPECT_NE(sentence_, "") << "a failure without a sentence, of " << fake_failed_call();
    return false;
  }
  void multiply(sxt_context *context) {
    const Arrays arrays;
    sxt_matrix_options options;
    sxt_matrix_options_init(&options, sizeof options);
    options.offset_type = options.index_type = SXT_I32;
    options.value_type = SXT_F64;
    sxt_matrix *matrix = nullptr;
    sxt_vector *x = nullptr, *y = nullptr;
    if (good(sxt_matrix_from_csr(context, Arrays::n, Arrays::n, arrays.row_ptr.data(), arrays.col.data(),
                                 arrays.values.data(), &options, &matrix),
             context) &&
        good(sxt_vector_create(context, Arrays::n, SXT_F64, &x), context) &&
        good(sxt_vector_create(context, Arrays::n, SXT_F64, &y), context) &&
        good(sxt_context_force(context, SXT_KIND_SPMV, kernel_), context))
      use(context, matrix, arrays, x, y);
    sxt_vector_destroy(x);
    sxt_vector_destroy(y);
    sxt_matrix_destroy(matrix);
  }
  void use(sxt_context *context, sxt_matrix *matrix, const Arrays &arrays, sxt_vector *x, sxt_vector *y) {
    sxt_spmv_query query{};
    query.m.q.h = {sizeof query, SXT_KIND_SPMV};
    query.m.q.expected_runs = 10;
    query.m.q.flags = SXT_QUERY_MATRIX;
    query.m.q.value_type = SXT_F64;
    query.op =
        std::strstr(kernel_, "sell.atomic") || std::strstr(kernel_, "transposed") ? SXT_TRANSPOSE : SXT_NO_TRANSPOSE;
    query.n_rhs = 1;
    sxt_selection *selection = nullptr;
    if (!good(sxt_kernel_select(context, &query.m.q, matrix, &selection), context)) return;
    EXPECT_STREQ(sxt_selection_kernel(selection), kernel_);
    const double one = 1;
    sxt_spmv_args args{};
    args.h = {sizeof args, SXT_KIND_SPMV};
    args.op = query.op;
    args.n_rhs = 1;
    args.alpha.value = &one;
    args.x = sxt_vector_data(x);
    args.y = sxt_vector_data(y);
    if (good(sxt_kernel_run(selection, &args.h), context) &&
        good(sxt_matrix_update_values(matrix, arrays.values.data(), static_cast<std::int64_t>(arrays.values.size())),
             context) &&
        good(sxt_kernel_run(selection, &args.h), context))
      finished_ = true;
    sxt_selection_destroy(selection);
  }

  const char *kernel_;
  std::string sentence_;  // of the last failure
  int failed_ = 0;
  bool finished_ = false;
};

class UnstructuredOnFakeDevice : public FakeDevice, public testing::WithParamInterface<const char *> {};

TEST_P(UnstructuredOnFakeDevice, LeavesNothingBehind) {
  Program program(GetParam());
  program.run();
  EXPECT_EQ(program.failed(), 0) << program.sentence();
  EXPECT_TRUE(program.finished());
  EXPECT_EQ(handles_left(), "");
}

TEST_P(UnstructuredOnFakeDevice, EveryCallMayFail) {
  std::int64_t n = 1, failures = 1;
  int noticed = 0;
  for (; failures > 0; ++n) {
    ASSERT_LT(n, 3000);
    fake_fail(n, FAKE_NO_MEMORY);
    Program program(GetParam());
    program.run();
    failures = fake_failures();
    fake_fail(0, 0);
    noticed += program.failed() > 0;
    ASSERT_EQ(handles_left(), "") << "after call " << n << " (" << fake_failed_call() << ") failed";
  }
  EXPECT_GT(n, 60);           // so many calls there are
  EXPECT_GT(noticed, n / 5);  // failures that matter are returned as a status: models do without a feature
}

std::string name_of(const testing::TestParamInfo<const char *> &info) {
  std::string name = info.param;
  for (char &c : name) c = c == '.' || c == '-' ? '_' : c;
  return name;
}
INSTANTIATE_TEST_SUITE_P(Kernels, UnstructuredOnFakeDevice,
                         testing::Values("spmv.coo.segmented.cuda", "spmv.coo.atomic.cuda", "spmv.sell.slices.cuda",
                                         "spmv.sell.atomic.cuda", "spmv.csr.balanced.cuda", "spmv.csr.hubs.cuda",
                                         "spmv.cusparse.csr-alg1.cuda", "spmv.cusparse.csr-alg2.cuda",
                                         "spmv.cusparse.transposed.cuda", "spmv.cusparse.coo-alg1.cuda",
                                         "spmv.cusparse.coo-alg2.cuda", "spmv.cusparse.sell.cuda",
                                         "spmv.cusparse.bsr.cuda"),
                         name_of);

}  // namespace
