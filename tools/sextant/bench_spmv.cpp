// SPDX-License-Identifier: BSD-3-Clause
// Suite spmv: y = A x by every kernel in every storage it reads.
#include "bench.hpp"
#include "sextant/kinds/spmv.h"

namespace tool {
namespace {

sxt_spmv_query query_for() {
  sxt_spmv_query query{};
  query.m.q.h = {sizeof query, SXT_KIND_SPMV};
  query.m.q.expected_runs = 1000;
  query.m.q.flags = SXT_QUERY_MATRIX;
  query.m.q.value_type = SXT_F64;
  query.op = SXT_NO_TRANSPOSE;
  query.n_rhs = 1;
  return query;
}

// The least traffic of any format-independent count: values and 32-bit columns, offsets, x once, y once.
double traffic(const textbook::Csr &a) {
  const double offset = a.offset_type == SXT_I64 ? 8 : 4, index = a.index_type == SXT_I64 ? 8 : 4;
  return static_cast<double>(a.nnz) * (8 + index) + static_cast<double>(a.rows + 1) * offset +
         static_cast<double>(a.cols + a.rows) * 8;
}

void bench_matrix(sxt_context *context, const BenchOptions &options, BenchMatrix &matrix, BenchReport &report) {
  const std::vector<double> x = operand(matrix.csr.cols, 0);
  std::vector<double> y(static_cast<std::size_t>(matrix.csr.rows)), want(y.size());
  const double one = 1, zero = 0;
  sxt_spmv_args args{};
  args.h = {sizeof args, SXT_KIND_SPMV};
  args.op = SXT_NO_TRANSPOSE;
  args.n_rhs = 1;
  args.ldx = matrix.csr.cols;
  args.ldy = matrix.csr.rows;
  args.alpha.value = &one;
  args.beta.value = &zero;
  args.x = x.data();
  args.y = y.data();

  std::vector<Contender> contenders(1);
  contenders[0].name = "textbook";
  contenders[0].run = [&] { textbook::spmv(matrix.csr, x.data(), want.data()); };
  std::vector<Selection> selections;
  const sxt_spmv_query query = query_for();
  for (const std::string &kernel : kernels_of(SXT_KIND_SPMV)) {
    report.show(matrix.name, kernel);
    std::string reason;
    Selection selection = select_forced(context, kernel, query.m.q, matrix.handle.get(), reason);
    if (!selection) {
      report.skip(matrix.name, kernel, reason);
      continue;
    }
    Contender contender;
    contender.name = kernel;
    contender.predicted_seconds = predicted_run(selection);
    contender.run = [&args, context, handle = selection.get()] { check(sxt_kernel_run(handle, &args.h), context); };
    contender.error = [&y, &want] { return relative_error(y, want); };
    contenders.push_back(std::move(contender));
    selections.push_back(std::move(selection));
  }
  measure(contenders, options.repeat);
  report.add(matrix.name, contenders, traffic(matrix.csr), {{"rows", matrix.csr.rows}, {"nnz", matrix.csr.nnz}});
}

}  // namespace

int bench_spmv(const BenchOptions &options) {
  const Context context = open_context(options.context);
  BenchReport report("spmv");
  for_each_matrix(context.get(), options, 250'000, false,
                  [&](BenchMatrix &matrix) { bench_matrix(context.get(), options, matrix, report); });
  return report.finish(options);
}

}  // namespace tool
