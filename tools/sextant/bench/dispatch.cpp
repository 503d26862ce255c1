// SPDX-License-Identifier: BSD-3-Clause
// Suite dispatch: what a call through the C interface costs over the kernel it ends in. The same kernel is run on the
// same tiny operands twice: by the call, and directly through the function table of its plugin, opened a second time.
#include <cstdint>

#include "bench/bench.hpp"
#include "report/kernel_table.hpp"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/spmv.h"
#include "sextant/plugin/kinds/storage.h"
#include "sextant/plugin/kinds/vector.h"

namespace tool {
namespace {

// A kernel of the CPU: its table with one thread.
sxt_candidate one_thread() {
  sxt_candidate candidate{};
  candidate.launch[0] = 1;
  return candidate;
}

template <class Q>
Q query_of(const char *kind, std::int32_t operation) {
  Q query{};
  query.q.h = {sizeof query, kind};
  query.q.expected_runs = 1000;
  query.q.value_type = SXT_F64;
  query.n = 1;
  query.operation = operation;
  return query;
}

Selection select(sxt_context *context, const sxt_query &query, sxt_matrix *matrix = nullptr) {
  sxt_selection *selection = nullptr;
  check(sxt_kernel_select(context, &query, matrix, &selection), context);
  return Selection(selection);
}

Vector wrap(sxt_context *context, double *values) {
  sxt_vector *vector = nullptr;
  check(sxt_vector_wrap(context, 1, SXT_F64, SXT_SPACE_HOST, values, &vector), context);
  return Vector(vector);
}

// One path: the kernel alone, the path, and the difference in nanoseconds.
void compare(BenchSession &session, const std::string &name, const std::string &kernel, std::function<void()> direct,
             std::function<void()> call) {
  session.report.show(name, kernel);
  std::vector<Contender> contenders(2);
  contenders[0].name = "table";
  contenders[0].peer = true;
  contenders[0].run = std::move(direct);
  contenders[1].name = kernel;
  contenders[1].run = std::move(call);
  measure(contenders, session.options.repeat);
  const double overhead_ns = (contenders[1].seconds - contenders[0].seconds) * 1e9;
  session.report.add(name, contenders, 0, {{"n", 1}, {"overhead_ns", overhead_ns}});
  if (!session.options.json) message(fmt::format("{}: {:.0f} ns over {}", name, overhead_ns, kernel));
}

void bench_dot(BenchSession &session) {
  sxt_context *context = session.context.get();
  double x[] = {0.5}, y[] = {0.25}, result = 0;
  const auto query = query_of<sxt_reduction_query>(SXT_KIND_REDUCTION, SXT_REDUCTION_DOT);
  sxt_reduction_args args{};
  args.h = {sizeof args, SXT_KIND_REDUCTION};
  args.n = 1, args.operation = SXT_REDUCTION_DOT, args.x = x, args.y = y, args.result = &result;
  const Selection selection = select(context, query.q);
  const std::string kernel = sxt_selection_kernel(selection.get());
  const DirectKernel direct(kernel, query.q, nullptr, one_thread());
  const Vector vx = wrap(context, x), vy = wrap(context, y);
  const auto alone = [&] { direct.run(&args.h); };
  compare(session, "sxt_dot", kernel, alone, [&] { check(sxt_dot(vx.get(), vy.get(), &result), context); });
  compare(session, "sxt_kernel_run dot", kernel, alone,
          [&] { check(sxt_kernel_run(selection.get(), &args.h), context); });
}

void bench_axpy(BenchSession &session) {
  sxt_context *context = session.context.get();
  double x[] = {0.5}, y[] = {0.25};
  const double alpha = 1e-9;
  const auto query = query_of<sxt_vector_query>(SXT_KIND_VECTOR, SXT_VECTOR_AXPY);
  sxt_vector_args args{};
  args.h = {sizeof args, SXT_KIND_VECTOR};
  args.n = 1, args.operation = SXT_VECTOR_AXPY, args.x = x, args.y = y, args.alpha.value = &alpha;
  const std::string kernel = sxt_selection_kernel(select(context, query.q).get());
  const DirectKernel direct(kernel, query.q, nullptr, one_thread());
  const Vector vx = wrap(context, x), vy = wrap(context, y);
  compare(
      session, "sxt_axpy", kernel, [&] { direct.run(&args.h); },
      [&] { check(sxt_axpy(&alpha, vx.get(), vy.get()), context); });
}

void bench_spmv_call(BenchSession &session) {
  sxt_context *context = session.context.get();
  const std::int32_t row_ptr[] = {0, 1}, col[] = {0};
  const double value[] = {2}, one = 1, zero = 0;
  double x[] = {0.5}, y[] = {0};
  sxt_matrix *made = nullptr;
  check(sxt_matrix_from_csr(context, 1, 1, row_ptr, col, value, nullptr, &made), context);
  const Matrix matrix(made);
  const Vector vx = wrap(context, x), vy = wrap(context, y);
  // The kernel that reads plain CSR row by row represents all: only the path to it is measured.
  std::string kernel;
  for (const std::string &name : kernels_of(SXT_KIND_SPMV))
    if (name.starts_with("spmv.csr.") && name.find("rows") != std::string::npos) kernel = name;
  if (kernel.empty()) return session.report.skip("sxt_spmv", "spmv.csr", "no kernel reads CSR row by row");
  check(sxt_context_force(context, SXT_KIND_SPMV, kernel.c_str()), context);
  sxt_spmv_query query{};
  query.m.q = {{sizeof query, SXT_KIND_SPMV}, 100, SXT_QUERY_MATRIX, SXT_F64};
  query.m.rows = query.m.cols = query.m.nnz = 1;
  query.m.matrix_type = SXT_F64;
  query.m.storage = SXT_KIND_STORAGE_CSR;
  query.op = SXT_NO_TRANSPOSE;
  query.n_rhs = 1;
  sxt_csr csr{};
  csr.s.h = {sizeof csr, SXT_KIND_STORAGE_CSR};
  csr.s.value_type = SXT_F64;
  csr.s.index_type = csr.s.offset_type = SXT_I32;
  csr.s.rows = csr.s.cols = csr.s.nnz = 1;
  csr.row_ptr = row_ptr, csr.col = col, csr.values = value;
  const DirectKernel direct(kernel, query.m.q, &csr.s.h, one_thread());
  sxt_spmv_args args{};
  args.h = {sizeof args, SXT_KIND_SPMV};
  args.op = SXT_NO_TRANSPOSE, args.n_rhs = 1, args.ldx = args.ldy = 1;
  args.alpha.value = &one, args.beta.value = &zero, args.x = x, args.y = y;
  compare(
      session, "sxt_spmv", kernel, [&] { direct.run(&args.h); },
      [&] { check(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), vx.get(), nullptr, vy.get()), context); });
  check(sxt_context_force(context, SXT_KIND_SPMV, nullptr), context);
}

}  // namespace

int bench_dispatch(const BenchOptions &given) {
  BenchOptions options = given;
  options.context.threads = 1;  // a team's fork and join would hide the cost of the call
  BenchSession session(options, "dispatch");
  bench_dot(session);
  bench_axpy(session);
  bench_spmv_call(session);
  return session.finish();
}

}  // namespace tool
