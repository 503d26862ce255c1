// SPDX-License-Identifier: BSD-3-Clause
// Suite reduction: sums, dot products and norms by every kernel, at several lengths.
#include <cmath>
#include <cstdint>

#include "bench.hpp"
#include "sextant/kinds/reduction.h"

namespace tool {
namespace {

struct Operation {
  std::int32_t number;
  const char *name;
  int vectors;
};

constexpr Operation kOperations[] = {
#define SXT_X(suffix, value, name, formula, vectors, result) {value, name, vectors},
    SXT_REDUCTION_TABLE(SXT_X)
#undef SXT_X
};

// Where a kernel leaves its answer: an integer for iamax, a real for the others.
union Answer {
  double real;
  std::int64_t place;
};

double value_of(const Answer &answer, std::int32_t operation) {
  return operation == SXT_REDUCTION_IAMAX ? static_cast<double>(answer.place) : answer.real;
}

void bench_operation(sxt_context *context, const BenchOptions &options, const Operation &operation,
                     const std::vector<double> &x, const std::vector<double> &y, BenchReport &report) {
  Answer answer{};
  double want = 0;
  sxt_reduction_args args{};
  args.h = {sizeof args, SXT_KIND_REDUCTION};
  args.n = static_cast<std::int64_t>(x.size());
  args.operation = operation.number;
  args.x = x.data();
  args.y = y.data();
  args.result = &answer;
  sxt_reduction_query query{};
  query.q.h = {sizeof query, SXT_KIND_REDUCTION};
  query.q.expected_runs = 1000;
  query.q.value_type = SXT_F64;
  query.n = args.n;
  query.operation = operation.number;

  const std::string name = fmt::format("{} n={}", operation.name, args.n);
  std::vector<Contender> contenders(1);
  contenders[0].name = "textbook";
  contenders[0].run = [&] { want = textbook::reduce(operation.number, args.n, x.data(), y.data()); };
  std::vector<Selection> selections;
  for (const std::string &kernel : kernels_of(SXT_KIND_REDUCTION)) {
    report.show(name, kernel);
    std::string reason;
    Selection selection = select_forced(context, kernel, query.q, nullptr, reason);
    if (!selection) {
      report.skip(name, kernel, reason);
      continue;
    }
    Contender contender;
    contender.name = kernel;
    contender.predicted_seconds = predicted_run(selection);
    contender.run = [&args, context, handle = selection.get()] { check(sxt_kernel_run(handle, &args.h), context); };
    contender.error = [&answer, &want, number = operation.number] {
      const double got = value_of(answer, number);
      return want == got ? 0.0 : std::abs(got - want) / std::abs(want);
    };
    contenders.push_back(std::move(contender));
    selections.push_back(std::move(selection));
  }
  measure(contenders, options.repeat);
  report.add(name, contenders, 8.0 * operation.vectors * static_cast<double>(args.n), {{"n", args.n}});
}

}  // namespace

int bench_reduction(const BenchOptions &options) {
  const Context context = open_context(options.context);
  BenchReport report("reduction");
  for (const std::int64_t n :
       options.sizes.empty() ? std::vector<std::int64_t>{1000, 100'000, 4'000'000} : options.sizes) {
    const std::vector<double> x = operand(n, 0), y = operand(n, 0.3);
    for (const Operation &operation : kOperations) bench_operation(context.get(), options, operation, x, y, report);
  }
  return report.finish(options);
}

}  // namespace tool
