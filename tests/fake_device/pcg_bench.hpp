// SPDX-License-Identifier: BSD-3-Clause
// A diagonal system over the fake libraries, set up for one engine: for detailed tests of conjugate gradients.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "abi/handles.hpp"
#include "core/choose/selector.hpp"
#include "tests/fake_device/fixture.hpp"

namespace fake_test {

// Ten iterations of an engine on n values at b and x, every answer of which counts as confirmed.
inline sxt_pcg_args ten_iterations(std::int32_t n, const sextant::DeviceBuffer &b, const sextant::DeviceBuffer &x) {
  sxt_pcg_args args{};
  args.h = {sizeof args, SXT_KIND_PCG};
  args.n = n;
  args.b = b.data();
  args.x = x.data();
  args.max_iterations = 10;
  args.confirm = [](void *, const void *, std::int64_t, double, double *, sxt_reason *reason) -> std::int32_t {
    return *reason = SXT_REASON_CONVERGED, SXT_CONFIRM_STOP;
  };
  return args;
}

// A separate set-up, and its engine's run, for detailed tests.
class Bench {
 public:
  explicit Bench(const char *engine, bool complex = false) {
    std::vector<std::int32_t> ptr{0}, col;
    std::vector<double> values;
    for (std::int32_t i = 0; i < rows; ++i) {
      col.push_back(i);
      values.push_back(2 + i % 3);
      if (complex) values.push_back(0);
      ptr.push_back(i + 1);
    }
    sxt_matrix_options as;
    sxt_matrix_options_init(&as, sizeof as);
    as.value_type = complex ? SXT_C128 : SXT_F64;
    EXPECT_EQ(open(&context), SXT_OK);
    EXPECT_EQ(sxt_matrix_from_csr(context, rows, rows, ptr.data(), col.data(), values.data(), &as, &matrix), SXT_OK);
    sxt_pcg_options options;
    sxt_pcg_options_init(&options, sizeof options);
    options.engine = engine;
    options.probe = -1;
    EXPECT_EQ(sxt_pcg_create(matrix, &options, &pcg), SXT_OK) << sxt_last_error(context);
    sxt_pcg_query query{};
    query.m = matrix->matrix->query_part(SXT_KIND_PCG, sizeof query, 1);
    sextant::Selector selector(matrix->matrix->context(), matrix->matrix.get(), {.forced = {{SXT_KIND_PCG, engine}}});
    runner = std::make_unique<sextant::Runner>(
        matrix->matrix->context(), selector.select({sextant::Query(&query.m.q), "pcg"}), matrix->matrix.get());
    b = sextant::DeviceBuffer(device(), (complex ? 2 : 1) * rows * sizeof(double));
    x = sextant::DeviceBuffer(device(), (complex ? 2 : 1) * rows * sizeof(double));
  }
  ~Bench() {
    runner.reset();
    b = sextant::DeviceBuffer();
    x = sextant::DeviceBuffer();
    sxt_pcg_destroy(pcg);
    sxt_matrix_destroy(matrix);
    sxt_context_destroy(context);
  }
  sextant::Device &device() { return context->context->device(); }
  sxt_status solve() {
    const std::vector<double> right(rows, 1);
    std::vector<double> solution(rows);
    return sxt_pcg_solve_array(pcg, rows, right.data(), solution.data(), nullptr, nullptr);
  }
  // One block: the device does nothing, which the engine detects after it.
  std::int32_t launches_of_a_block() {
    sxt_pcg_args args = ten_iterations(rows, b, x);
    EXPECT_THROW(runner->run(&args.h), sextant::Error);
    EXPECT_EQ(args.reductions, 1);
    return args.launches;
  }
  static constexpr std::int32_t rows = 300;
  sxt_context *context = nullptr;
  sxt_matrix *matrix = nullptr;
  sxt_pcg *pcg = nullptr;
  std::unique_ptr<sextant::Runner> runner;
  sextant::DeviceBuffer b, x;
};

}  // namespace fake_test
