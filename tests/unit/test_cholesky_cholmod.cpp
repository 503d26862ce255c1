// SPDX-License-Identifier: BSD-3-Clause
// Entries of L against those that CHOLMOD counts for the same order, where it is installed.
#include <gmock/gmock.h>

#include "core/cholesky/symbolic.hpp"

#if __has_include(<suitesparse/cholmod.h>)
#include <dlfcn.h>
#include <suitesparse/cholmod.h>

#include <numeric>
#include <random>
#include <set>

namespace {

using namespace sextant::cholesky;

struct Cholmod {
  void *library = ::dlopen("libcholmod.so.3", RTLD_NOW | RTLD_LOCAL);
  template <class F>
  F *find(const char *name) const {
    return reinterpret_cast<F *>(::dlsym(library, name));
  }
};

// What CHOLMOD counts: entries of L, and their squares' sum by columns.
std::pair<double, double> counts(const Cholmod &c, std::vector<int> &row_ptr, std::vector<int> &col,
                                 std::vector<int> &perm) {
  cholmod_common common;
  c.find<decltype(cholmod_start)>("cholmod_start")(&common);
  cholmod_sparse a{};
  a.nrow = a.ncol = perm.size(), a.nzmax = col.size();
  a.p = row_ptr.data(), a.i = col.data();
  a.stype = 1, a.itype = CHOLMOD_INT, a.xtype = CHOLMOD_PATTERN, a.sorted = a.packed = 1;
  common.nmethods = 1, common.method[0].ordering = CHOLMOD_GIVEN, common.postorder = 1;
  cholmod_factor *l = c.find<decltype(cholmod_analyze_p)>("cholmod_analyze_p")(&a, perm.data(), nullptr, 0, &common);
  const std::pair<double, double> out{common.lnz, common.fl};
  c.find<decltype(cholmod_free_factor)>("cholmod_free_factor")(&l, &common);
  c.find<decltype(cholmod_finish)>("cholmod_finish")(&common);
  return out;
}

TEST(CholeskyCholmodTest, CountsAreEqual) {
  const Cholmod cholmod;
  if (!cholmod.library) GTEST_SKIP() << "libcholmod.so.3 is not installed (package libcholmod3)";
  std::mt19937 random(4);
  for (const int n : {1, 2, 50, 400, 3000})
    for (const int edges : {0, n, 4 * n}) {
      std::vector<std::set<int>> rows(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) rows[static_cast<std::size_t>(i)].insert(i);
      for (int k = 0; k < edges; ++k) {
        const auto i = random() % static_cast<unsigned>(n), j = random() % static_cast<unsigned>(n);
        rows[i].insert(static_cast<int>(j)), rows[j].insert(static_cast<int>(i));
      }
      std::vector<int> row_ptr{0}, col, perm(static_cast<std::size_t>(n));
      for (const auto &row : rows) {
        col.insert(col.end(), row.begin(), row.end());
        row_ptr.push_back(static_cast<int>(col.size()));
      }
      std::iota(perm.begin(), perm.end(), 0);
      std::shuffle(perm.begin(), perm.end(), random);
      const Graph graph = make_graph({n, SXT_I32, SXT_I32, row_ptr.data(), col.data(), Triangles::both}, 1);
      const Elimination e = eliminate(graph, perm, 0, 1);
      const auto [entries, flops] = counts(cholmod, row_ptr, col, perm);
      EXPECT_EQ(static_cast<double>(e.nnz_l), entries) << n << " rows, " << edges << " edges";
      EXPECT_EQ(e.flops, flops);
    }
}

}  // namespace
#else
TEST(CholeskyCholmodTest, CountsAreEqual) { GTEST_SKIP() << "no cholmod.h (package libsuitesparse-dev)"; }
#endif
