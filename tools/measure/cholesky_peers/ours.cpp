// SPDX-License-Identifier: BSD-3-Clause
// Rows of this library's own schedulers.
#include <unistd.h>

#include <cstring>

#include "peers.hpp"

namespace peers {

namespace {

cholesky::Settings settings_of(const Options &options, const char *scheduler, sxt_factor_precision precision) {
  cholesky::Settings settings;
  settings.scheduler = scheduler, settings.order = options.order;
  settings.precision = precision, settings.amalgamation = options.amalgamation;
  settings.expected_factors = settings.expected_solves = 1000;
  settings.check_symmetry = false, settings.recorded = true;
  return settings;
}

// An analysis whose factorisation goes by options.launch and so many products, where one of them is given.
std::shared_ptr<cholesky::Analysis> analyse(const InContext &context, const std::shared_ptr<Matrix> &matrix,
                                            const Options &options, const char *scheduler,
                                            sxt_factor_precision precision, int products) {
  cholesky::Settings settings = settings_of(options, scheduler, precision);
  auto first = std::make_shared<cholesky::Analysis>(matrix, settings);
  if ((!options.launch && products < 0) || std::strcmp(scheduler, "cholesky.levels.cuda")) return first;
  const std::string path = "gpu_cholesky_peers-" + std::to_string(::getpid()) + ".toml";
  gpu_test::CholeskyLaunch launch = options.launch.value_or(gpu_test::CholeskyLaunch{256, 88});
  launch.products = std::max(products, 0);
  need(gpu_test::load_launch(context.handle, path, launch));
  settings.scheduler.clear();
  auto second = std::make_shared<cholesky::Analysis>(matrix, settings);
  if (!gpu_test::has_launch(context.handle, path, launch)) throw std::runtime_error("the plan was not followed");
  return second;
}

struct Made {
  std::unique_ptr<sxt_matrix, void (*)(sxt_matrix *)> matrix;
  std::shared_ptr<cholesky::Analysis> analysis;
  Row row;
};

Made make(const InContext &context, const Problem &a, const Options &options, const char *scheduler,
          sxt_factor_precision precision, int products) {
  sxt_matrix *made = nullptr;
  need(sxt_matrix_from_csr(context.handle, a.n(), a.n(), a.ptr.data(), a.col.data(), a.values.data(), nullptr, &made));
  Made out{{made, sxt_matrix_destroy}, nullptr, {}};
  Row &row = out.row;
  row.order_s =
      1e-3 * ms_of([&] { out.analysis = analyse(context, made->matrix, options, scheduler, precision, products); });
  const sxt_symbolic &s = out.analysis->symbolic();
  row.nnz_l = s.nnz_l, row.supers = s.n_super, row.flops = s.flops;
  row.predicted = 1e3 * out.analysis->factor_seconds(), row.predicted_solve = 1e3 * out.analysis->solve_seconds(1);
  row.device_gb = 1e-9 * static_cast<double>(out.analysis->info().device_bytes);
  return out;
}

std::vector<char> bytes_of(const std::vector<double> &numbers, bool single) {
  std::vector<char> out(numbers.size() * (single ? 4 : 8));
  if (!single) std::memcpy(out.data(), numbers.data(), out.size());
  for (std::size_t k = 0; single && k < numbers.size(); ++k)
    reinterpret_cast<float *>(out.data())[k] = static_cast<float>(numbers[k]);
  return out;
}
std::vector<double> numbers_of(const std::vector<char> &bytes, bool single) {
  std::vector<double> out(bytes.size() / (single ? 4 : 8));
  if (!single) std::memcpy(out.data(), bytes.data(), bytes.size());
  for (std::size_t k = 0; single && k < out.size(); ++k)
    out[k] = static_cast<double>(reinterpret_cast<const float *>(bytes.data())[k]);
  return out;
}

// What a factor in single precision is made of, as numbers of f64.
Problem scaled(const Problem &a, const CsrArrays &csr, const InContext &context) {
  cholesky::SingleValues values(csr, context.handle->context->allocator());
  if (!values.take(csr, context.handle->context->threads())) throw std::runtime_error("values not for f32");
  Problem out = a;
  for (std::size_t k = 0; k < out.values.size(); ++k)
    out.values[k] = static_cast<double>(static_cast<const float *>(values.values())[k]);
  return out;
}

}  // namespace

Row by_kernel(const InContext &context, const Problem &given, const Options &options, const char *scheduler,
              int products) {
  const bool single = products >= 0;
  const std::uint64_t each = single ? 4 : 8;
  Device &device = context.device();
  Made made = make(context, given, options, scheduler,
                   products == 1 ? SXT_PRECISION_ROUNDED
                   : single      ? SXT_PRECISION_SINGLE
                                 : SXT_PRECISION_WORKING,
                   products);
  Row &row = made.row;
  const Problem a = single ? scaled(given, made.matrix->matrix->csr(), context) : given;
  const std::vector<char> numbers = bytes_of(a.values, single);
  DeviceBuffer factor(device, static_cast<std::uint64_t>(made.analysis->symbolic().values) * each),
      values(device, numbers.size());
  device.copy(values.data(), numbers.data(), values.bytes());
  std::int64_t failed = -1, changed = 0;
  double pivot = 0;
  sxt_cholesky_args call{};
  call.h = {sizeof call, SXT_KIND_CHOLESKY};
  call.phase = SXT_CHOLESKY_FACTOR, call.factors = SXT_FACTORS_LLH, call.n_sets = 1;
  call.value_type = call.value_type_a = made.analysis->factor_type();
  call.values = values.data(), call.factor = factor.data();
  call.failed_column = &failed, call.failed_pivot = &pivot, call.changed = &changed;
  const std::unique_ptr<Session> session = made.analysis->open_factor();
  const auto run = [&] { session->ask(&call.h); };
  row.first = ms_of(run);
  row.refactor = median_ms(
      options.repeat, [] {}, run);
  if (failed >= 0)
    throw std::runtime_error("column " + std::to_string(failed) + " failed, pivot " + std::to_string(pivot));
  const auto solve = [&](std::int64_t columns) {
    const std::vector<double> b = right_sides(a, columns);
    const std::vector<char> sent = bytes_of(b, single);
    DeviceBuffer x(device, sent.size());
    sxt_cholesky_args args = call;
    args.phase = SXT_CHOLESKY_SOLVE, args.values = nullptr;
    args.b = x.data(), args.ldb = a.n(), args.n_rhs = columns;
    double last = 0;
    const auto once = [&] {
      made.analysis->solver(columns).ask(&args.h);
      device.copy(&last, x.data(), 4);  // has ended
    };
    const auto fill = [&] { device.copy(x.data(), sent.data(), x.bytes()); };
    fill(), once();
    const double ms = median_ms(options.repeat, fill, once);
    std::vector<char> got(sent.size());
    device.copy(got.data(), x.data(), x.bytes());
    row.error = std::max(std::isnan(row.error) ? 0 : row.error, error_of(a, b, numbers_of(got, single)));
    return ms;
  };
  row.solve = solve(1), row.solve8 = solve(8), row.solve64 = solve(64);
  return row;
}

Row by_calls(const InContext &context, const Problem &a, const Options &options, const char *scheduler, bool single) {
  Device &device = context.device();
  Made made = make(context, a, options, scheduler, single ? SXT_PRECISION_SINGLE : SXT_PRECISION_WORKING, -1);
  Row &row = made.row;
  cholesky::Factor factor(made.analysis);
  const auto refactor = [&] { factor.factor(nullptr, nullptr); };
  row.first = ms_of(refactor);
  row.refactor = median_ms(
      options.repeat, [] {}, refactor);
  const auto solve = [&](std::int64_t columns) {
    const std::vector<double> b = right_sides(a, columns);
    DeviceBuffer right(device, b.size() * 8), left(device, b.size() * 8);
    device.copy(right.data(), b.data(), right.bytes());
    cholesky::SolveCall call;
    call.n_rhs = columns, call.ldb = call.ldx = a.n();
    call.b = right.data(), call.x = left.data();
    sxt_cholesky_solve_report report{};
    double last = 0;
    const auto once = [&] {
      report.residual = NAN;
      factor.solve(call, report);
      device.copy(&last, left.data(), 8);  // has ended
    };
    once();
    if (report.repeated) throw std::runtime_error("single precision did not serve");
    const double ms = median_ms(
        options.repeat, [] {}, once);
    if (single) row.refined = report.refined;
    std::vector<double> got(b.size());
    device.copy(got.data(), left.data(), left.bytes());
    row.error = std::max(std::isnan(row.error) ? 0 : row.error, error_of(a, b, got));
    return ms;
  };
  row.solve = solve(1), row.solve8 = solve(8), row.solve64 = solve(64);
  return row;
}

}  // namespace peers
