// SPDX-License-Identifier: BSD-3-Clause
// What the benchmark suites share: options, the session they run in, kernels of a kind, matrices.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/measure.hpp"
#include "bench/peers.hpp"
#include "bench/report.hpp"
#include "bench/textbook.hpp"
#include "commands/generate.hpp"
#include "input/context_options.hpp"
#include "input/several_files.hpp"
#include "report/output.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace tool {

// How often a choice will run, as told to the library and to the peers' set-up.
constexpr double usual_runs = 1000;
constexpr const char *own_choice = "choice";

struct BenchOptions {
  ContextOptions context;
  PeerOptions peers;
  std::vector<std::string> matrices;
  std::string generate, markdown, command_line;
  std::string svg;                             // on a GPU: drawings of the reductions
  std::vector<std::string> operations, types;  // on a GPU: these alone
  std::vector<std::int64_t> sizes;
  int repeat = 15;
  bool repeat_given = false;     // suites on a GPU have their own numbers
  std::string phase = "factor";  // of cholesky: analysis, factor or solve
  std::int64_t n_rhs = 1;        // of its solves
  std::int64_t sets = 1;         // of values on one pattern
  std::int64_t max_iterations = 500;
  double rtol = 1e-8;
  double triad = 0;  // GB/s; 0: measured where needed
  bool json = false, verbose = false;
  bool plans = false;                // pcg on a GPU: every engine with every storage and preconditioner
  double plan_seconds = 0;           // and how long they may take for one matrix; 0: no limit
  std::vector<std::string> engines;  // pcg on a GPU: those beside the choice; empty: all
};

// Context, peers and bandwidth, all in this process.
struct BenchSession {
  BenchSession(const BenchOptions &bench_options, const char *suite);
  // Prints everything; returns the exit code.
  int finish() const;
  const BenchOptions &options;
  Context context;
  BenchMachine machine;
  PeerSet peers;
  BenchReport report;
  SeveralFiles files;
};

// Threads that the library uses: "..., 8 units, ..." in the description of its device.
int threads_of(sxt_context *context);
// One product with a matrix in f64, as the suites of both devices ask for it.
sxt_spmv_query product_query();
// Names of the loaded CPU kernels of a kind.
std::vector<std::string> kernels_of(const char *kind);
// Selects the kernel for the query, forced for the moment; own_choice: the library's own choice. Empty when it does not
// apply, with the reason.
Selection select_kernel(sxt_context *context, const std::string &kernel, const sxt_query &query, sxt_matrix *matrix,
                        std::string &reason);
// The library's choice, then every kernel of the kind that applies, to run on these args. The others are skipped with
// their reason.
void add_kernels(BenchSession &session, const std::string &name, const sxt_query &query, sxt_matrix *matrix,
                 sxt_head *args, double operand_bytes, const std::function<double()> &error,
                 std::vector<Contender> &contenders);

// A matrix under test with its CSR arrays, borrowed from the library.
struct BenchMatrix {
  std::string name;
  Matrix handle;
  textbook::Csr csr;
};
// The files, or when none is given the generated ones at each size; calls visit with one after the other. Of several
// files those that cannot be read or do not fit the suite are left out; a single one is an error.
void for_each_matrix(BenchSession &session, std::int64_t default_size, bool square,
                     const std::function<void(BenchMatrix &)> &visit);
// The matrix for a peer; false, and skipped for every peer, where its indices are not 32 bits wide.
bool peer_csr(BenchSession &session, const BenchMatrix &matrix, sxt_peer_csr &csr);

// Numbers in [0.5, 1.5) that repeat with no short period; for operands.
std::vector<double> operand(std::int64_t n, double phase);
// max |got - want| / max |want|
double relative_error(const std::vector<double> &got, const std::vector<double> &want);

int bench_spmv(const BenchOptions &options);
int bench_vector(const BenchOptions &options);
int bench_reduction(const BenchOptions &options);
int bench_pcg(const BenchOptions &options);
int bench_cholesky(const BenchOptions &options);
int bench_dispatch(const BenchOptions &options);

}  // namespace tool
