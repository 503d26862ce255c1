// SPDX-License-Identifier: BSD-3-Clause
// Prints a table of orders and of the symbolic phase that follows them:
//
//   bench_orderings PLUGIN_DIR THREADS[,THREADS...] METHOD[,METHOD...] SYSTEM...
//
// A system is AxBxC:P or AxBxC:PxU, a grid of A x B x C nodes whose neighbours lie along the axes (P = 5 or 7) or all
// around (9 or 27), with U unknowns each, or the path of a Matrix Market file. PLUGIN_DIR/cpu holds the plugins
// ordering-METHOD.so. Times are the least of three runs where one takes less than a second.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

#include "core/cholesky/symbolic.hpp"
#include "core/device/host.hpp"
#include "core/io/matrix_market.hpp"
#include "core/registry/registry.hpp"
#include "sextant/plugin/kinds/ordering.h"

namespace {

using namespace sextant;
using namespace sextant::cholesky;

struct System {
  std::string name;
  std::int64_t n = 0;
  std::vector<std::int64_t> row_ptr{0};
  std::vector<std::int32_t> col;
  Pattern pattern() const { return {n, SXT_I32, SXT_I64, row_ptr.data(), col.data(), Triangles::both}; }
};

System grid(const std::string &name) {
  long a = 1, b = 1, c = 1, points = 7, unknowns = 1;
  if (std::sscanf(name.c_str(), "%ldx%ldx%ld:%ldx%ld", &a, &b, &c, &points, &unknowns) < 4)
    fail(SXT_E_ARGUMENT, "'", name, "' is neither a file nor a grid such as 60x60x60:7 or 50x50x50:27x3");
  const bool around = points == 9 || points == 27;
  System s{name, a * b * c * unknowns, {0}, {}};
  for (long i = 0; i < a * b * c; ++i)
    for (long u = 0; u < unknowns; ++u) {
      for (long dz = -1; dz <= 1; ++dz)
        for (long dy = -1; dy <= 1; ++dy)
          for (long dx = -1; dx <= 1; ++dx) {
            const long x = i % a + dx, y = i / a % b + dy, z = i / a / b + dz;
            if (x < 0 || y < 0 || z < 0 || x >= a || y >= b || z >= c) continue;
            if (!around && dx * dx + dy * dy + dz * dz > 1) continue;
            for (long v = 0; v < unknowns; ++v)
              s.col.push_back(static_cast<std::int32_t>((x + a * (y + b * z)) * unknowns + v));
          }
      s.row_ptr.push_back(static_cast<std::int64_t>(s.col.size()));
    }
  return s;
}

System file(const std::string &path) {
  const io::MatrixMarketMatrix read = io::read_matrix(path, {}, {});
  System s{path.substr(path.rfind('/') + 1), read.csr.rows, {}, {}};
  with_index_type(read.csr.offset_type, [&](auto tag) {
    const auto *p = read.csr.row_ptr.as<typename decltype(tag)::type>();
    s.row_ptr.assign(p, p + s.n + 1);
  });
  with_index_type(read.csr.index_type, [&](auto tag) {
    const auto *p = read.csr.col.as<typename decltype(tag)::type>();
    s.col.assign(p, p + s.row_ptr.back());
  });
  return s;
}

const sxt_kernel *kernel_of(const std::string &folder, const std::string &method) {
  const std::string path = folder + "/cpu/ordering-" + method + ".so";
  void *const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  require(handle != nullptr, SXT_E_FILE_READ, "no plugin: ", ::dlerror());
  using Entry = sxt_status (*)(const sxt_host *, const sxt_plugin **);
  const sxt_plugin *plugin = nullptr;
  reinterpret_cast<Entry>(::dlsym(handle, "sxt_plugin_entry_0"))(&host(), &plugin);
  return plugin->kernels[0];
}

// Seconds of the fastest of a few runs; the first alone where it is long.
template <class F>
double seconds(F &&f) {
  double least = 1e300;
  for (int k = 0; k < 3 && (k == 0 || least < 1); ++k) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return least;
}

void row(const System &s, const std::string &method, const sxt_kernel &kernel, int threads) {
  std::vector<std::int32_t> perm(static_cast<std::size_t>(s.n));
  sxt_ordering_query query{};
  query.m.q = {{sizeof query, SXT_KIND_ORDERING}, 1, SXT_QUERY_MATRIX, SXT_F64};
  query.m.rows = query.m.cols = s.n, query.m.nnz = static_cast<std::int64_t>(s.col.size());
  sxt_ordering_args args{};
  args.h = {sizeof args, SXT_KIND_ORDERING};
  args.n = s.n, args.index_type = SXT_I32, args.offset_type = SXT_I64;
  args.row_ptr = s.row_ptr.data(), args.col = s.col.data(), args.perm = perm.data();
  sxt_exec exec{};
  exec.host = &host(), exec.threads = threads;
  sxt_candidate candidate{};
  candidate.launch[0] = threads;
  const sxt_problem problem{sizeof(sxt_problem), &query.m.q, nullptr, nullptr};
  void *state = nullptr;
  if (kernel.prepare) kernel.prepare(&problem, &candidate, nullptr, &exec, &state);
  sxt_status status = SXT_OK;
  const double order_s = seconds([&] { status = kernel.run(state, nullptr, &args.h, &exec); });
  if (kernel.release && state) kernel.release(state);
  if (status != SXT_OK) {
    std::printf("| %s | %s | %d | declined in %.4f s | | | | | |\n", s.name.c_str(), method.c_str(), threads, order_s);
    return;
  }
  sxt_cholesky_query q{};
  double bytes = 0;
  const double symbolic_s = seconds([&] {
    const Graph graph = make_graph(s.pattern(), threads);
    Elimination e = eliminate(graph, perm, 0, threads);
    const Partition p = partition(e, {});
    const Symbolic symbolic(s.pattern(), graph, std::move(e), p, threads);
    q = symbolic.summary();
    bytes = static_cast<double>(symbolic.bytes());
  });
  std::printf("| %s | %s | %d | %.4f | %.4f | %.2f | %.4g | %lld | %.0f |\n", s.name.c_str(), method.c_str(), threads,
              order_s, symbolic_s, static_cast<double>(q.nnz_l) / 1e6, q.flops, (long long)q.n_super, bytes / 1e6);
  std::fflush(stdout);
}

std::vector<std::string> parts_of(const std::string &text) {
  std::vector<std::string> out;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, ',');) out.push_back(part);
  return out;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 5) return std::fprintf(stderr, "bench_orderings PLUGIN_DIR THREADS METHODS SYSTEM...\n"), 2;
  try {
    std::printf(
        "| system | order | threads | order s | symbolic s | nnz(L) M | flops | supernodes | MB |\n"
        "|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 4; i < argc; ++i) {
      const std::string name = argv[i];
      const System s = name.find(".mtx") != std::string::npos ? file(name) : grid(name);
      for (const std::string &method : parts_of(argv[3]))
        for (const std::string &threads : parts_of(argv[2]))
          row(s, method, *kernel_of(argv[1], method), std::max(1, std::atoi(threads.c_str())));
    }
  } catch (const std::exception &problem) {
    return std::fprintf(stderr, "%s\n", problem.what()), 1;
  }
  return 0;
}
