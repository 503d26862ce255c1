// SPDX-License-Identifier: BSD-3-Clause
// The promise of CAPTURABLE, on parts bound by core: scalars by pointer are read again at every replay, and a kernel
// that makes the promise is tested for it.
#include <cstdint>

#include <gmock/gmock.h>

#include "abi/handles.hpp"
#include "core/choose/selector.hpp"
#include "core/conformance/capture_check.hpp"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "support.hpp"

namespace composition {
namespace {

using ::testing::HasSubstr;

class Capture : public HardCase {
 protected:
  // A bound kernel of kind sxt.spmv_dots/1 with a session.
  struct Bound {
    Bound(const Context &context, const Matrix &matrix, const char *kernel) {
      sextant::Matrix &inner = *matrix->matrix;
      sextant::Selector selector(*context->context, &inner, {.forced = {{SXT_KIND_SPMV_DOTS, kernel}}});
      sxt_spmv_dots_query query{};
      query.m.m = inner.query_part(SXT_KIND_SPMV_DOTS, sizeof query, 1);
      query.m.n_rhs = 1;
      query.n_dots = 1;
      prepared = std::make_unique<sextant::Prepared>(
          *context->context, selector.select({sextant::Query(&query.m.m.q), "test"}), &inner, nullptr);
      session = prepared->open();
    }
    std::unique_ptr<sextant::Prepared> prepared;
    std::unique_ptr<sextant::Session> session;
  };
  // y = alpha A x and y'x, all in device memory.
  struct Arrays {
    explicit Arrays(std::int64_t n) : x(std::vector<double>(n)), y(n), scalars(2) {
      for (std::int64_t i = 0; i < n; ++i) x[i] = 1.0 / static_cast<double>(i + 1);
      u[0] = nullptr, v[0] = x.data();
      args.m.h = {sizeof args, SXT_KIND_SPMV_DOTS};
      args.m.n_rhs = 1;
      args.m.alpha = {&scalars[0], 1, 0};
      args.m.x = x.data();
      args.m.y = y.data();
      args.n_dots = 1;
      args.u = u;
      args.v = v;
      args.dots = &scalars[1];
    }
    DeviceArray<double> x, y, scalars;  // scalars: alpha, the inner product
    const void *u[1], *v[1];
    sxt_spmv_dots_args args{};
  };
};

TEST_F(Capture, AlphaChangesBetweenReplaysOfOneCapture) {
  const Context context = open_context("deferred");
  const Csr a = five_point(4, 4);
  const Matrix matrix = make_matrix(context, a);
  const Bound bound(context, matrix, "spmv_dots.dia.deferred");
  const Arrays arrays(a.n);
  const std::vector<double> ax = a * arrays.x.host();

  const sxt_device_ops &device = context->context->device().ops();
  void *handle = context->context->device().handle(), *stream = nullptr, *graph = nullptr;
  ASSERT_EQ(device.stream_create(handle, &stream), SXT_OK);
  sextant::Call call(context->context->device());
  sxt_exec exec = sextant::make_exec(call);
  exec.stream = stream;
  exec.flags = SXT_EXEC_CAPTURING;
  arrays.scalars[0] = 1;
  ASSERT_EQ(device.capture_begin(handle, stream), SXT_OK);
  const sxt_bound &kernel = bound.session->bound();
  EXPECT_EQ(kernel.run(kernel.state, kernel.session, &arrays.args.m.h, &exec), SXT_OK) << call.sentence;
  ASSERT_EQ(device.capture_end(handle, stream, &graph), SXT_OK);

  for (const double alpha : {1.0, -3.0, 0.5}) {
    arrays.scalars[0] = alpha;
    ASSERT_EQ(device.graph_launch(handle, stream, graph), SXT_OK);
    ASSERT_EQ(device.stream_synchronize(handle, stream), SXT_OK);
    double dot = 0;
    for (std::int64_t i = 0; i < a.n; ++i) {
      EXPECT_DOUBLE_EQ(arrays.y[i], alpha * ax[i]);
      dot += arrays.y[i] * arrays.x[i];
    }
    EXPECT_DOUBLE_EQ(arrays.scalars[1], dot);
  }
  device.graph_destroy(handle, graph);
  device.stream_destroy(handle, stream);
}

TEST_F(Capture, CoreTestsThePromiseOfAThirdPartysKernel) {
  const Context context = open_context("deferred");
  const Csr a = five_point(4, 4);
  const Matrix matrix = make_matrix(context, a);
  sextant::Device &device = context->context->device();
  for (const bool promised : {true, false}) {
    const Bound bound(context, matrix, promised ? "spmv_dots.dia.deferred" : "spmv_dots.dia.eager");
    const Arrays arrays(a.n);
    arrays.scalars[0] = 2;
    for (std::int64_t i = 0; i < a.n; ++i) arrays.y[i] = 0;
    arrays.scalars[1] = 0;
    const double other_alpha = -1;
    const std::vector<sextant::conformance::CaptureInput> inputs{
        {arrays.x.data(), static_cast<std::uint64_t>(a.n) * 8, 8}, {&arrays.scalars[0], 8, 8, &other_alpha}};
    const std::vector<sextant::conformance::CaptureOutput> outputs{
        {arrays.y.data(), static_cast<std::uint64_t>(a.n) * 8}, {&arrays.scalars[1], 8}};
    const auto prove = [&] {
      sextant::conformance::prove_capturable(bound.session->bound(), device, &arrays.args.m.h, inputs, outputs);
    };
    if (promised) {
      EXPECT_NO_THROW(prove());
      continue;
    }
    try {
      prove();
      ADD_FAILURE() << "a kernel that waits inside a capture was let through";
    } catch (const sextant::Error &problem) {
      EXPECT_EQ(problem.status(), SXT_E_PLUGIN);
      EXPECT_THAT(problem.what(), HasSubstr("spmv_dots.dia.eager"));
    }
    mock::add("violations", -1);  // the wait that was tried on purpose
  }
}

}  // namespace
}  // namespace composition
