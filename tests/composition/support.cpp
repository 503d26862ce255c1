// SPDX-License-Identifier: BSD-3-Clause
#include "support.hpp"

#include <cmath>
#include <cstdint>

namespace composition {

Context open_context(const char *device, std::vector<std::string> extra, bool deterministic) {
  std::vector<const char *> paths{COMPOSITION_PLUGINS};
  for (const std::string &path : extra) paths.push_back(path.c_str());
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = device;
  options.threads = 2;
  options.plugin_paths = paths.data();
  options.n_plugin_paths = paths.size();
  options.deterministic = deterministic;
  sxt_context *context = nullptr;
  EXPECT_EQ(sxt_context_create(&options, &context), SXT_OK) << sxt_last_error(nullptr);
  return Context(context);
}

std::vector<double> Csr::operator*(const std::vector<double> &x) const {
  std::vector<double> y(n, 0);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) y[i] += values[k] * x[col[k]];
  return y;
}

Csr five_point(std::int64_t width, std::int64_t height, double shift) {
  Csr a;
  a.n = width * height;
  a.row_ptr.push_back(0);
  for (std::int64_t i = 0; i < a.n; ++i) {
    const std::int64_t x = i % width, y = i / width;
    const auto add = [&](bool there, std::int64_t j, double value) {
      if (there) a.col.push_back(static_cast<std::int32_t>(j)), a.values.push_back(value);
    };
    add(y > 0, i - width, -1);
    add(x > 0, i - 1, -1);
    add(true, i, 4 + shift);
    add(x + 1 < width, i + 1, -1);
    add(y + 1 < height, i + width, -1);
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col.size()));
  }
  return a;
}

Matrix make_matrix(const Context &context, const Csr &a) {
  sxt_matrix *matrix = nullptr;
  EXPECT_EQ(
      sxt_matrix_from_csr(context.get(), a.n, a.n, a.row_ptr.data(), a.col.data(), a.values.data(), nullptr, &matrix),
      SXT_OK)
      << sxt_last_error(context.get());
  return Matrix(matrix);
}

Selection select(const Context &context, const sxt_query &query, const Matrix &matrix) {
  sxt_selection *selection = nullptr;
  EXPECT_EQ(sxt_kernel_select(context.get(), &query, matrix.get(), &selection), SXT_OK)
      << sxt_last_error(context.get());
  return Selection(selection);
}

sxt_status try_select(const Context &context, const sxt_query &query, const Matrix &matrix) {
  sxt_selection *selection = nullptr;
  const sxt_status status = sxt_kernel_select(context.get(), &query, matrix.get(), &selection);
  sxt_selection_destroy(selection);
  return status;
}

nlohmann::json explain(const Selection &selection) {
  std::int64_t length = 0;
  EXPECT_EQ(sxt_selection_explain(selection.get(), SXT_JSON, nullptr, 0, &length), SXT_OK);
  std::string told(static_cast<std::size_t>(length) + 1, '\0');
  EXPECT_EQ(sxt_selection_explain(selection.get(), SXT_JSON, told.data(), length + 1, nullptr), SXT_OK);
  return nlohmann::json::parse(told.c_str());
}

std::string reason_for(const Selection &selection, const std::string &kernel) {
  const nlohmann::json told = explain(selection);
  for (const auto &line : told["candidates"])
    if (line["kernel"] == kernel) return line["reason"];
  return "";
}

std::vector<std::string> parts_of(const Selection &selection) {
  std::vector<std::string> parts;
  const nlohmann::json told = explain(selection);
  for (const auto &part : told["plan"][0]["parts"]) parts.push_back(part["kernel"]);
  return parts;
}

sxt_pcg_query pcg_query(double iterations) {
  sxt_pcg_query query{};
  query.m.q = {{sizeof query, SXT_KIND_PCG}, 1, SXT_QUERY_MATRIX, SXT_F64};
  query.iterations = iterations;
  return query;
}

double relative_residual(const Csr &a, const std::vector<double> &x, const std::vector<double> &b) {
  const std::vector<double> ax = a * x;
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) error += (b[i] - ax[i]) * (b[i] - ax[i]), norm += b[i] * b[i];
  return std::sqrt(error / norm);
}

Solve solve(const Selection &engine, const Csr &a, const std::vector<double> &b, double tolerance) {
  Solve result;
  const DeviceArray<double> device_b(b), device_x(b.size());
  sxt_pcg_args &args = result.args;
  args.h = {sizeof args, SXT_KIND_PCG};
  args.n = a.n;
  args.b = device_b.data();
  args.x = device_x.data();
  args.x_is_zero = 1;
  args.tolerance = tolerance;
  args.max_iterations = 500;
  args.user = &result;
  args.observe = [](void *user, std::int64_t first, std::int64_t count, const double *residuals) -> sxt_reason {
    auto &history = static_cast<Solve *>(user)->history;
    EXPECT_EQ(first, static_cast<std::int64_t>(history.size()));  // each iteration is reported once
    history.insert(history.end(), residuals, residuals + count);
    return SXT_REASON_NONE;
  };
  args.confirm = [](void *, const void *, std::int64_t, double, double *, sxt_reason *reason) -> std::int32_t {
    return *reason = SXT_REASON_CONVERGED, SXT_CONFIRM_STOP;
  };
  result.status = sxt_kernel_run(engine.get(), &args.h);
  result.x = device_x.host();
  return result;
}

void HardCase::SetUp() {
  mock::forget_knobs();
  mock::fail_allocation(0);
  live_allocations_ = mock::counted("live allocations");
  live_streams_ = mock::counted("live streams");
  live_graphs_ = mock::counted("live graphs");
  violations_ = mock::counted("violations");
  open_devices_ = mock::counted("device opens") - mock::counted("device closes");
}

void HardCase::TearDown() {
  EXPECT_EQ(mock::counted("live allocations"), live_allocations_) << "device memory was not given back";
  EXPECT_EQ(mock::counted("live streams"), live_streams_) << "a stream was not destroyed";
  EXPECT_EQ(mock::counted("live graphs"), live_graphs_) << "a graph was not destroyed";
  EXPECT_EQ(mock::counted("violations"), violations_)
      << "something waited or allocated inside a capture, or worked without a stream";
  EXPECT_EQ(mock::counted("device opens") - mock::counted("device closes"), open_devices_) << "a device was not closed";
  mock::forget_knobs();
}

}  // namespace composition
