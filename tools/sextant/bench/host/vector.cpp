// SPDX-License-Identifier: BSD-3-Clause
// Suite vector: every element-wise operation by every kernel and the peers that have it, at several lengths.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "bench/bench.hpp"
#include "sextant/plugin/kinds/vector.h"

namespace tool {
namespace {

struct Operation {
  std::int32_t number;
  const char *name;
  int reads, writes;
};

constexpr Operation benched_operations[] = {
#define SXT_X(suffix, value, name, formula, reads, writes) {value, name, reads, writes},
    SXT_VECTOR_TABLE(SXT_X)
#undef SXT_X
};

bool is_indexed(const Operation &operation) {
  return operation.number == SXT_VECTOR_GATHER || operation.number == SXT_VECTOR_SCATTER;
}

// A permutation that jumps about: i * step mod n with step coprime to n.
std::vector<std::int32_t> permutation(std::int64_t n) {
  std::int64_t step = std::max<std::int64_t>(1, static_cast<std::int64_t>(0.618 * static_cast<double>(n)));
  while (std::gcd(step, n) != 1) ++step;
  std::vector<std::int32_t> index(static_cast<std::size_t>(n));
  std::int64_t place = 0;
  for (std::int32_t &entry : index) {
    entry = static_cast<std::int32_t>(place);
    place = (place + step) % n;
  }
  return index;
}

// Operands of one length. Both sides work on copies, so that repeated runs see the same memory behaviour.
struct Operands {
  explicit Operands(std::int64_t n)
      : x(operand(n, 0)),
        start(operand(n, 0.3)),
        y(start),
        z(start),
        want_y(start),
        want_z(start),
        index(permutation(n)) {}
  std::vector<double> x, start, y, z, want_y, want_z;
  std::vector<std::int32_t> index;
  // |alpha| + |beta| < 1, so that updates repeated in place neither grow nor fade into subnormal numbers.
  double alpha = 0.5, beta = 0.25, scale = -1.0;
};

sxt_vector_args args_for(const Operation &operation, Operands &data) {
  sxt_vector_args args{};
  args.h = {sizeof args, SXT_KIND_VECTOR};
  args.n = static_cast<std::int64_t>(data.x.size());
  args.operation = operation.number;
  args.index_type = is_indexed(operation) ? SXT_I32 : 0;
  const bool in_place = operation.number == SXT_VECTOR_SCALE;
  args.alpha.value = in_place ? &data.scale : &data.alpha;
  args.beta.value = &data.beta;
  args.x = data.x.data();
  args.y = data.y.data();
  args.z = data.z.data();
  args.index = data.index.data();
  return args;
}

double traffic(const Operation &operation, double n) {
  // The tables count an index as a vector element; here it has 4 bytes.
  return n * 8 * (operation.reads + operation.writes) - (is_indexed(operation) ? n * 4 : 0);
}

// Both results after one run from equal starting values.
double compare(const sxt_vector_args &args, Operands &data, const std::function<void()> &run, double alpha) {
  data.y = data.z = data.want_y = data.want_z = data.start;
  run();
  textbook::vector(args.operation, {args.n, alpha, data.beta, data.x.data(), data.want_y.data(), data.want_z.data(),
                                    data.index.data()});
  return std::max(relative_error(data.y, data.want_y), relative_error(data.z, data.want_z));
}

void add_peer(const sxt_peer *peer, const sxt_vector_args &args, Operands &data, double alpha,
              std::vector<Contender> &contenders) {
  if (!peer->has_vector || !peer->has_vector(args.operation) || args.n > std::numeric_limits<std::int32_t>::max())
    return;
  Contender contender;
  contender.name = peer->name;
  contender.peer = true;
  contender.own_threads = peer->own_threads != 0;
  contender.run = [peer, &args, &data, alpha] {
    peer->vector(args.operation, args.n, alpha, data.beta, data.x.data(), data.y.data());
  };
  contender.error = [&args, &data, alpha, run = contender.run] { return compare(args, data, run, alpha); };
  contenders.push_back(std::move(contender));
}

void bench_operation(BenchSession &session, const Operation &operation, Operands &data) {
  sxt_vector_args args = args_for(operation, data);
  const std::string name = session.report.case_name(fmt::format("{} n={}", operation.name, args.n));
  const double alpha = *static_cast<const double *>(args.alpha.value);
  sxt_vector_query query{};
  query.q.h = {sizeof query, SXT_KIND_VECTOR};
  query.q.expected_runs = usual_runs;
  query.q.value_type = SXT_F64;
  query.n = args.n;
  query.operation = operation.number;
  query.index_type = args.index_type;

  std::vector<Contender> contenders(1);
  contenders[0].name = "textbook";
  contenders[0].peer = true;
  contenders[0].run = [&] {
    textbook::vector(operation.number, {args.n, alpha, data.beta, data.x.data(), data.want_y.data(), data.want_z.data(),
                                        data.index.data()});
  };
  add_kernels(session, name, query.q, nullptr, &args.h, 0, {}, contenders);
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    contenders[i].error = [&args, &data, alpha, run = contenders[i].run] { return compare(args, data, run, alpha); };
  }
  for (const sxt_peer *peer : session.peers.ready) add_peer(peer, args, data, alpha, contenders);
  measure(contenders, session.options.repeat);
  session.report.add(name, contenders, traffic(operation, static_cast<double>(args.n)), {{"n", args.n}});
}

}  // namespace

int bench_vector(const BenchOptions &options) {
  BenchSession session(options, "vector");
  for (const std::int64_t n :
       options.sizes.empty() ? std::vector<std::int64_t>{1000, 100'000, 4'000'000} : options.sizes) {
    Operands data(n);
    for (const Operation &operation : benched_operations) bench_operation(session, operation, data);
  }
  return session.finish();
}

}  // namespace tool
