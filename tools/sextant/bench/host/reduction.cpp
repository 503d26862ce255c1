// SPDX-License-Identifier: BSD-3-Clause
// Suite reduction: sums, dot products and norms by every kernel and the peers that have it, at several lengths.
#include <cmath>
#include <cstdint>
#include <limits>

#include "bench/bench.hpp"
#include "sextant/plugin/kinds/reduction.h"

namespace tool {
namespace {

struct Reduction {
  std::int32_t number;
  const char *name;
  int vectors;
};

constexpr Reduction benched_reductions[] = {
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

void add_peer(const sxt_peer *peer, const sxt_reduction_args &args, const std::vector<double> &x,
              const std::vector<double> &y, Answer &answer, std::vector<Contender> &contenders) {
  if (!peer->has_reduction || !peer->has_reduction(args.operation) ||
      args.n > std::numeric_limits<std::int32_t>::max()) {
    return;
  }
  Contender contender;
  contender.name = peer->name;
  contender.peer = true;
  contender.own_threads = peer->own_threads != 0;
  contender.run = [peer, &args, &x, &y, &answer] {
    const double result = peer->reduce(args.operation, args.n, x.data(), y.data());
    if (args.operation == SXT_REDUCTION_IAMAX) {
      answer.place = static_cast<std::int64_t>(result);
    } else {
      answer.real = result;
    }
  };
  contenders.push_back(std::move(contender));
}

void bench_operation(BenchSession &session, const Reduction &operation, const std::vector<double> &x,
                     const std::vector<double> &y) {
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
  query.q.expected_runs = usual_runs;
  query.q.value_type = SXT_F64;
  query.n = args.n;
  query.operation = operation.number;

  const std::string name = session.report.case_name(fmt::format("{} n={}", operation.name, args.n));
  std::vector<Contender> contenders(1);
  contenders[0].name = "textbook";
  contenders[0].peer = true;
  contenders[0].run = [&] { want = textbook::reduce(operation.number, args.n, x.data(), y.data()); };
  add_kernels(session, name, query.q, nullptr, &args.h, 0, {}, contenders);
  for (const sxt_peer *peer : session.peers.ready) add_peer(peer, args, x, y, answer, contenders);
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    contenders[i].error = [&answer, &want, number = operation.number] {
      const double got = value_of(answer, number);
      // An element that a run leaves unwritten must not hold the previous contender's right answer.
      number == SXT_REDUCTION_IAMAX ? void(answer.place = -2) : void(answer.real = NAN);
      return want == got ? 0.0 : std::abs(got - want) / std::abs(want);
    };
  }
  measure(contenders, session.options.repeat);
  session.report.add(name, contenders, 8.0 * operation.vectors * static_cast<double>(args.n), {{"n", args.n}});
}

}  // namespace

int bench_reduction(const BenchOptions &options) {
  BenchSession session(options, "reduction");
  for (const std::int64_t n :
       options.sizes.empty() ? std::vector<std::int64_t>{1000, 100'000, 4'000'000} : options.sizes) {
    const std::vector<double> x = operand(n, 0), y = operand(n, 0.3);
    for (const Reduction &operation : benched_reductions) bench_operation(session, operation, x, y);
  }
  return session.finish();
}

}  // namespace tool
