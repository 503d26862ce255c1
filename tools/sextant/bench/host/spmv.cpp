// SPDX-License-Identifier: BSD-3-Clause
// Suite spmv: y = A x by the library's choice, by every kernel in every storage it reads, and by the peers.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "bench/bench.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace tool {
namespace {

// The least traffic, independent of the storage format: values and 32-bit columns, offsets, x once, y once.
double traffic(const textbook::Csr &a) {
  const double offset = a.offset_type == SXT_I64 ? 8 : 4, index = a.index_type == SXT_I64 ? 8 : 4;
  return static_cast<double>(a.nnz) * (8 + index) + static_cast<double>(a.rows + 1) * offset +
         static_cast<double>(a.cols + a.rows) * 8;
}

void add_peer(BenchSession &session, const BenchMatrix &matrix, const sxt_peer *peer, const std::vector<double> &x,
              std::vector<double> &y, const std::function<double()> &error, std::vector<Contender> &contenders) {
  sxt_peer_csr csr{};
  if (!peer->spmv_run || !peer_csr(session, matrix, csr)) return;
  session.report.show(matrix.name, peer->name);
  const sxt_peer_effort effort{static_cast<std::int32_t>(usual_runs), session.options.peers.tune ? 1 : 0};
  sxt_peer_message message{};
  void *state = nullptr;
  int status = 0;
  Contender contender;
  contender.setup_seconds = seconds_of([&] { status = peer->spmv_prepare(&csr, &effort, &state, &message); });
  if (status != 0) return session.report.skip(matrix.name, peer->name, message.text);
  contender.name = peer->name;
  contender.peer = true;
  contender.own_threads = peer->own_threads != 0;
  contender.keep = std::shared_ptr<void>(state, peer->spmv_release);
  contender.run = [peer, state, &x, &y] {
    if (const int failed = peer->spmv_run(state, x.data(), y.data())) {
      fail(exit_not_solved, "{} answered {}", peer->name, failed);
    }
  };
  contender.error = error;
  contenders.push_back(std::move(contender));
}

void bench_matrix(BenchSession &session, BenchMatrix &matrix) {
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
  contenders[0].peer = true;
  contenders[0].run = [&] { textbook::spmv(matrix.csr, x.data(), want.data()); };
  // An element that a run leaves unwritten must not hold the previous contender's right answer.
  const auto error = [&y, &want] {
    const double distance = relative_error(y, want);
    std::fill(y.begin(), y.end(), std::numeric_limits<double>::quiet_NaN());
    return distance;
  };
  std::fill(y.begin(), y.end(), std::numeric_limits<double>::quiet_NaN());
  const double operand_bytes = static_cast<double>(matrix.csr.cols + matrix.csr.rows) * 8;
  const sxt_spmv_query query = product_query();
  add_kernels(session, matrix.name, query.m.q, matrix.handle.get(), &args.h, operand_bytes, error, contenders);
  for (const sxt_peer *peer : session.peers.ready) add_peer(session, matrix, peer, x, y, error, contenders);
  session.report.show(matrix.name, "measuring");
  measure(contenders, session.options.repeat);
  session.report.add(matrix.name, contenders, traffic(matrix.csr),
                     {{"rows", matrix.csr.rows}, {"nnz", matrix.csr.nnz}});
}

}  // namespace

int bench_spmv(const BenchOptions &options) {
  BenchSession session(options, "spmv");
  for_each_matrix(session, 250'000, false, [&](BenchMatrix &matrix) { bench_matrix(session, matrix); });
  return session.finish();
}

}  // namespace tool
