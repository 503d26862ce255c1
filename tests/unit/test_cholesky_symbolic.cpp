// SPDX-License-Identifier: BSD-3-Clause
// The symbolic half of sparse Cholesky against a factorisation of a dense pattern, on graphs that a person can draw and
// on random ones, in every form a pattern may come in.
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <numeric>
#include <random>
#include <set>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/cholesky/symbolic.hpp"

namespace {

using namespace sextant;
using namespace sextant::cholesky;

using Edges = std::set<std::pair<std::int64_t, std::int64_t>>;  // lower: first > second

// A pattern in one of the forms that callers give.
struct Form {
  Pattern pattern;
  std::vector<std::int32_t> ptr32, col32;
  std::vector<std::int64_t> ptr, col;
};

Form form(std::int64_t n, const Edges &edges, Triangles triangles, sxt_index_type index, sxt_index_type offset,
          bool diagonal = true) {
  std::vector<std::set<std::int64_t>> rows(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; diagonal && i < n; ++i) rows[static_cast<std::size_t>(i)].insert(i);
  for (const auto &[i, j] : edges) {
    if (triangles != Triangles::upper) rows[static_cast<std::size_t>(i)].insert(j);
    if (triangles != Triangles::lower) rows[static_cast<std::size_t>(j)].insert(i);
  }
  Form out;
  out.ptr.push_back(0);
  for (const auto &row : rows) {
    out.col.insert(out.col.end(), row.begin(), row.end());
    out.ptr.push_back(static_cast<std::int64_t>(out.col.size()));
  }
  out.ptr32.assign(out.ptr.begin(), out.ptr.end());
  out.col32.assign(out.col.begin(), out.col.end());
  out.pattern = {n, index, offset, nullptr, nullptr, triangles};
  return out;
}
Pattern pattern_of(const Form &f) {
  Pattern p = f.pattern;
  p.row_ptr = p.offset_type == SXT_I32 ? static_cast<const void *>(f.ptr32.data()) : f.ptr.data();
  p.col = p.index_type == SXT_I32 ? static_cast<const void *>(f.col32.data()) : f.col.data();
  return p;
}

std::vector<std::int32_t> natural(std::int64_t n) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// L's pattern, of a matrix in this order whose last n_schur columns are dense.
std::vector<std::vector<bool>> filled(std::int64_t n, const Edges &edges, const std::vector<std::int32_t> &perm,
                                      std::int64_t n_schur) {
  std::vector<std::int64_t> place(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) place[static_cast<std::size_t>(perm[static_cast<std::size_t>(k)])] = k;
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  std::vector<std::vector<bool>> l(at(n), std::vector<bool>(at(n), false));
  for (std::int64_t i = 0; i < n; ++i) l[at(i)][at(i)] = true;
  for (const auto &[i, j] : edges) {
    const std::int64_t a = place[at(i)], b = place[at(j)];
    l[at(std::max(a, b))][at(std::min(a, b))] = true;
  }
  for (std::int64_t j = n - n_schur; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) l[at(i)][at(j)] = true;
  for (std::int64_t j = 0; j < n - n_schur; ++j)
    for (std::int64_t i = j + 1; i < n; ++i)
      for (std::int64_t k = j + 1; l[at(i)][at(j)] && k <= i; ++k)
        if (l[at(k)][at(j)]) l[at(i)][at(k)] = true;
  return l;
}

// All that a sxt_symbolic promises.
void check(const sxt_symbolic &s, std::int64_t n, const Edges &edges, std::int64_t n_schur, const Form &f) {
  ASSERT_EQ(s.n, n);
  ASSERT_EQ(s.n_factored, n - n_schur);
  const std::vector<std::int32_t> perm(s.perm, s.perm + n);
  for (std::int64_t k = 0; k < n; ++k) ASSERT_EQ(s.inverse[s.perm[k]], k);
  const auto l = filled(n, edges, perm, n_schur);
  std::int64_t nnz = 0;
  for (const auto &row : l) nnz += std::count(row.begin(), row.end(), true);
  EXPECT_EQ(s.nnz_l, nnz);
  std::vector<std::int64_t> to;
  std::int64_t blocks = 0, values = 0;
  for (std::int64_t p = 0; p < s.n_super; ++p) {
    const std::int64_t begin = s.super_ptr[p], end = s.super_ptr[p + 1], ld = s.row_ptr[p + 1] - s.row_ptr[p];
    ASSERT_LT(begin, end);
    const std::int32_t *rows = s.rows + s.row_ptr[p];
    ASSERT_TRUE(std::is_sorted(rows, rows + ld, std::less_equal<>()));
    for (std::int64_t k = begin; k < end; ++k) ASSERT_EQ(rows[k - begin], k);
    EXPECT_EQ(s.parent[p] >= 0, ld > end - begin);
    if (ld > end - begin) {
      EXPECT_LE(s.super_ptr[s.parent[p]], rows[end - begin]);
      EXPECT_GT(s.super_ptr[s.parent[p] + 1], rows[end - begin]);
    }
    for (std::int64_t j = begin; j < end; ++j)
      for (std::int64_t i = j; i < n; ++i)
        if (l[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]) {
          ASSERT_TRUE(std::binary_search(rows, rows + ld, static_cast<std::int32_t>(i))) << i << " " << j;
        }
    values += ld * (end - begin);
    EXPECT_EQ(s.value_ptr[p + 1], values);
    EXPECT_EQ(s.block_ptr[blocks], begin);
    while (blocks < s.n_blocks && s.block_ptr[blocks] < end) ++blocks;
  }
  EXPECT_EQ(blocks, s.n_blocks);
  EXPECT_EQ(s.block_ptr[blocks], n);
  // Where entries go: numbers of the caller that tell row and column.
  std::vector<std::pair<std::int64_t, std::int64_t>> entry;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = f.ptr[static_cast<std::size_t>(i)]; k < f.ptr[static_cast<std::size_t>(i) + 1]; ++k)
      entry.emplace_back(i, f.col[static_cast<std::size_t>(k)]);
  std::set<std::int64_t> targets;
  EXPECT_EQ(s.n_entries, static_cast<std::int64_t>(edges.size()) + n);
  for (std::int64_t k = 0; k < s.n_entries; ++k) {
    ASSERT_TRUE(targets.insert(s.entry_to[k]).second);
    auto [i, j] = entry[static_cast<std::size_t>(s.entry_from[k])];
    if (k >= s.n_straight) std::swap(i, j);
    const std::int64_t row = s.inverse[i], column = s.inverse[j];
    ASSERT_GE(row, column);
    const std::int64_t p = std::upper_bound(s.super_ptr, s.super_ptr + s.n_super, column) - s.super_ptr - 1;
    const std::int64_t ld = s.row_ptr[p + 1] - s.row_ptr[p], at = s.entry_to[k] - s.value_ptr[p];
    EXPECT_EQ(s.super_ptr[p] + at / ld, column);
    EXPECT_EQ(s.rows[s.row_ptr[p] + at % ld], row);
  }
  if (n_schur > 0) {
    EXPECT_EQ(s.super_ptr[s.n_super - 1], n - n_schur);
  }
}

Symbolic make(const Form &f, const std::vector<std::int32_t> &order, std::int64_t n_schur = 0,
              const SupernodeOptions &options = {}, int threads = 1) {
  const Pattern pattern = pattern_of(f);
  const Graph graph = make_graph(pattern, threads);
  Elimination e = eliminate(graph, order, n_schur, threads);
  const Partition p = partition(e, options);
  return Symbolic(pattern, graph, std::move(e), p, threads);
}

bool equal(const Symbolic &a, const Symbolic &b) {
  const sxt_symbolic &x = a.view(), &y = b.view();
  const auto same = [](auto *p, auto *q, std::int64_t count) { return std::equal(p, p + count, q); };
  return x.n == y.n && x.n_super == y.n_super && x.n_blocks == y.n_blocks && x.n_entries == y.n_entries &&
         x.n_straight == y.n_straight && x.nnz_l == y.nnz_l && x.flops == y.flops && x.values == y.values &&
         same(x.super_ptr, y.super_ptr, x.n_super + 1) && same(x.row_ptr, y.row_ptr, x.n_super + 1) &&
         same(x.value_ptr, y.value_ptr, x.n_super + 1) && same(x.block_ptr, y.block_ptr, x.n_blocks + 1) &&
         same(x.rows, y.rows, x.row_ptr[x.n_super]) && same(x.parent, y.parent, x.n_super) &&
         same(x.perm, y.perm, x.n) && same(x.inverse, y.inverse, x.n) &&
         same(x.subtree_flops, y.subtree_flops, x.n_super) && same(x.entry_from, y.entry_from, x.n_entries) &&
         same(x.entry_to, y.entry_to, x.n_entries);
}

Edges path(std::int64_t n) {
  Edges e;
  for (std::int64_t i = 1; i < n; ++i) e.insert({i, i - 1});
  return e;
}
Edges dense(std::int64_t n) {
  Edges e;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) e.insert({i, j});
  return e;
}
Edges star(std::int64_t n, std::int64_t hub) {
  Edges e;
  for (std::int64_t i = 0; i < n; ++i)
    if (i != hub) e.insert({std::max(i, hub), std::min(i, hub)});
  return e;
}
Edges grid(std::int64_t a, std::int64_t b) {
  Edges e;
  for (std::int64_t i = 0; i < a * b; ++i) {
    if (i % a) e.insert({i, i - 1});
    if (i >= a) e.insert({i, i - a});
  }
  return e;
}
Edges random_edges(std::int64_t n, std::int64_t count, std::mt19937 &random) {
  Edges e;
  for (std::int64_t k = 0; k < count && n > 1; ++k) {
    const auto i = static_cast<std::int64_t>(random() % static_cast<unsigned>(n)),
               j = static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
    if (i != j) e.insert({std::max(i, j), std::min(i, j)});
  }
  return e;
}

TEST(CholeskySymbolicTest, GraphsThatAPersonCanDraw) {
  const std::pair<std::int64_t, Edges> graphs[] = {
      {0, {}},         {1, {}},         {5, {}},          {7, path(7)},          {9, dense(9)},
      {8, star(8, 0)}, {8, star(8, 7)}, {30, grid(6, 5)}, {6, {{1, 0}, {4, 3}}}, {70, dense(70)}};
  for (const auto &[n, edges] : graphs)
    for (const std::int64_t block : {1, 3, 1024}) {
      SCOPED_TRACE(testing::Message() << n << " rows, " << edges.size() << " edges, blocks of " << block);
      const Form f = form(n, edges, Triangles::both, SXT_I32, SXT_I32);
      SupernodeOptions options;
      options.block = block;
      check(make(f, natural(n), 0, options).view(), n, edges, 0, f);
    }
  const Form arrow = form(8, star(8, 7), Triangles::both, SXT_I32, SXT_I32);
  EXPECT_EQ(make(arrow, natural(8)).view().nnz_l, 15);
  const Form fan = form(8, star(8, 0), Triangles::both, SXT_I32, SXT_I32);
  EXPECT_EQ(make(fan, natural(8)).view().nnz_l, 36);
}

TEST(CholeskySymbolicTest, RandomGraphsInAllForms) {
  std::mt19937 random(1);
  for (int k = 0; k < 300; ++k) {
    const auto n = static_cast<std::int64_t>(1 + random() % 40);
    const Edges edges = random_edges(n, static_cast<std::int64_t>(random() % static_cast<unsigned>(3 * n)), random);
    std::vector<std::int32_t> order = natural(n);
    std::shuffle(order.begin(), order.end(), random);
    const auto triangles = static_cast<Triangles>(k % 3);
    const Form f = form(n, edges, triangles, k % 2 ? SXT_I64 : SXT_I32, k % 5 ? SXT_I32 : SXT_I64);
    const std::int64_t n_schur = k % 4 == 0 ? static_cast<std::int64_t>(random() % static_cast<unsigned>(n + 1)) : 0;
    SupernodeOptions options;
    options.amalgamation = k % 7 == 0 ? 0 : 64;
    SCOPED_TRACE(testing::Message() << "graph " << k << " of " << n << " rows, Schur " << n_schur);
    check(make(f, order, n_schur, options).view(), n, edges, n_schur, f);
    if (HasFatalFailure()) return;
  }
}

TEST(CholeskySymbolicTest, EveryNumberOfThreadsGivesTheSame) {
  const std::int64_t n = 120 * 110;
  const Edges edges = grid(120, 110);
  std::mt19937 random(2);
  std::vector<std::int32_t> order = natural(n);
  std::shuffle(order.begin() + 200, order.end() - 3000, random);
  for (const Triangles triangles : {Triangles::both, Triangles::lower, Triangles::upper}) {
    const Form f = form(n, edges, triangles, SXT_I32, SXT_I32);
    const Symbolic one = make(f, order, 50);
    for (const int threads : {2, 3, 8}) EXPECT_TRUE(equal(one, make(f, order, 50, {}, threads))) << threads;
  }
}

TEST(CholeskySymbolicTest, AMillionRowsWithoutNeighbours) {
  const std::int64_t n = 1000000;
  const Form f = form(n, {}, Triangles::both, SXT_I32, SXT_I32);
  const Symbolic s = make(f, natural(n), 0, {}, 2);
  EXPECT_EQ(s.view().nnz_l, n);
  EXPECT_EQ(s.view().n_super, n);
  EXPECT_EQ(s.summary().height, 1);
}

TEST(CholeskySymbolicTest, NumbersOfASmallTree) {
  // Columns 0 and 1 in one branch, 2 and 3 in the other, 4 and 5 above.
  const Form f = form(6, {{1, 0}, {4, 1}, {5, 1}, {3, 2}, {4, 3}, {5, 3}, {5, 4}}, Triangles::both, SXT_I32, SXT_I32);
  SupernodeOptions apart;
  apart.amalgamation = 0;
  const Symbolic s = make(f, natural(6), 0, apart);
  const sxt_cholesky_query &q = s.summary();
  EXPECT_EQ(q.n_super, 4);  // 0, 1, 2, and 3 with 4 and 5
  EXPECT_EQ(q.nnz_l, 2 + 3 + 2 + 3 + 2 + 1);
  EXPECT_EQ(q.flops, 4 + 9 + 4 + 9 + 4 + 1);
  EXPECT_EQ(q.critical_flops, 4 + 9 + 14);
  EXPECT_EQ(q.height, 3);
  EXPECT_EQ(q.values, 2 + 3 + 2 + 9);
  EXPECT_EQ(q.update_values, 1 + 4 + 1);
  EXPECT_EQ(q.stack_values, 4 + 1);
  EXPECT_EQ(s.view().subtree_flops[3], q.flops);
  EXPECT_EQ(q.classes[0].count, 4);
  EXPECT_EQ(q.classes[0].columns, 6);
  // From the root: 3 to 5; 1 and 2; 0.
  EXPECT_EQ(q.narrow_level_columns, 3 + 1 + 1);
  EXPECT_EQ(q.wide_level_columns, 0);
  EXPECT_EQ(q.level_rows, 3 + 3 + 2);
  EXPECT_EQ(q.level_children, 2 + 1);
  EXPECT_EQ(q.large_count, 0);
}

TEST(CholeskySymbolicTest, WidthsThatGiveTheSameSupernodesAreKnown) {
  const Form f = form(20 * 20, grid(20, 20), Triangles::both, SXT_I32, SXT_I32);
  const Graph graph = make_graph(pattern_of(f), 1);
  const Partition base = fundamental(eliminate(graph, natural(20 * 20), 0, 1));
  int same = 0, other = 0;
  for (const std::int64_t first : {1, 2, 8, 64})
    for (const std::int64_t second : {2, 8, 64, 128})
      for (const std::int64_t block : {8, 256}) {
        SupernodeOptions one, two;
        one.amalgamation = first, two.amalgamation = second, two.block = block;
        const Partition a = amalgamate(base, one), b = amalgamate(base, two);
        const sxt_cholesky_query q = summary(a), r = summary(b);
        if (!gives_the_same(one, q.max_width, two)) {
          ++other;
          continue;
        }
        ++same;
        EXPECT_TRUE(a.super_ptr == b.super_ptr) << first << " and " << second;
        EXPECT_EQ(q.n_blocks, r.n_blocks);
      }
  EXPECT_GT(same, 0);
  EXPECT_GT(other, 0);
}

TEST(CholeskySymbolicTest, AmalgamationAddsFewZeros) {
  const std::int64_t n = 40 * 40;
  const Form f = form(n, grid(40, 40), Triangles::both, SXT_I32, SXT_I32);
  SupernodeOptions none;
  none.amalgamation = 0;
  const Symbolic plain = make(f, natural(n), 0, none), joined = make(f, natural(n));
  EXPECT_LT(joined.view().n_super, plain.view().n_super);
  EXPECT_EQ(joined.view().nnz_l, plain.view().nnz_l);
  EXPECT_LT(joined.view().flops, 1.5 * plain.view().flops);
}

sxt_status status_of(const std::function<void()> &f, std::string *sentence = nullptr) {
  try {
    f();
  } catch (const Error &problem) {
    if (sentence) *sentence = problem.what();
    return problem.status();
  }
  return SXT_OK;
}

TEST(CholeskySymbolicTest, BadInputIsNamed) {
  const Form f = form(4, path(4), Triangles::both, SXT_I32, SXT_I32);
  const Graph graph = make_graph(pattern_of(f), 1);
  std::string said;
  EXPECT_EQ(status_of([&] { eliminate(graph, std::vector<std::int32_t>{0, 1, 1, 3}, 0, 1); }, &said), SXT_E_ARGUMENT);
  EXPECT_THAT(said, testing::HasSubstr("column 1 at places 1 and 2"));
  EXPECT_EQ(status_of([&] { eliminate(graph, std::vector<std::int32_t>{0, 1, 4, 3}, 0, 1); }), SXT_E_ARGUMENT);
  EXPECT_EQ(status_of([&] { eliminate(graph, std::vector<std::int32_t>{0, 1, 2}, 0, 1); }), SXT_E_ARGUMENT);
  EXPECT_EQ(status_of([&] { eliminate(graph, natural(4), 5, 1); }), SXT_E_ARGUMENT);
  Form single = f;
  single.ptr32 = {0, 2, 4, 7, 9}, single.col32 = {0, 1, 0, 1, 1, 2, 3, 2, 3};  // (2, 1) without (1, 2)
  EXPECT_EQ(status_of([&] { make_graph(pattern_of(single), 1); }, &said), SXT_E_NOT_SYMMETRIC);
  EXPECT_THAT(said, testing::HasSubstr("(2, 1)"));
  Form upper = form(4, path(4), Triangles::both, SXT_I32, SXT_I32);
  upper.pattern.triangles = Triangles::upper;
  EXPECT_EQ(status_of([&] { make_graph(pattern_of(upper), 1); }), SXT_E_ARGUMENT);
  Pattern large = pattern_of(f);
  large.n = std::int64_t{1} << 31;
  EXPECT_EQ(status_of([&] { make_graph(large, 1); }), SXT_E_NOT_SUPPORTED);
  Form outside = f;
  outside.col32.back() = 9;
  EXPECT_EQ(status_of([&] { make_graph(pattern_of(outside), 1); }), SXT_E_INDEX);
}

class CholeskyFileTest : public testing::Test {
 protected:
  CholeskyFileTest() : path_(testing::TempDir() + "structure-" + std::to_string(::getpid()) + ".sxt") {}
  ~CholeskyFileTest() override { ::unlink(path_.c_str()); }
  sxt_status load(std::string *said = nullptr, std::uint64_t hash = 7) {
    return status_of([&] { Symbolic::load(path_, pattern_of(form_), hash, 2); }, said);
  }
  std::string path_;
  Form form_ = form(30 * 20, grid(30, 20), Triangles::lower, SXT_I32, SXT_I64);
};

TEST_F(CholeskyFileTest, ComesBackAsItWas) {
  const Symbolic made = make(form_, natural(600), 11);
  made.save(path_, 7);
  EXPECT_TRUE(equal(made, Symbolic::load(path_, pattern_of(form_), 7, 1)));
  const Form nothing = form(0, {}, Triangles::both, SXT_I32, SXT_I32);
  make(nothing, {}).save(path_, 7);
  EXPECT_EQ(Symbolic::load(path_, pattern_of(nothing), 7, 1).view().n, 0);
}

TEST_F(CholeskyFileTest, ForeignAndDamagedFilesAreTold) {
  std::string said;
  EXPECT_EQ(load(), SXT_E_FILE_READ);
  write_file_atomically(path_, "a text about something else entirely");
  EXPECT_EQ(load(&said), SXT_E_PLAN);
  EXPECT_THAT(said, testing::HasSubstr("no structure file"));
  make(form_, natural(600)).save(path_, 7);
  EXPECT_EQ(load(), SXT_OK);
  EXPECT_EQ(load(&said, 8), SXT_E_PLAN);
  EXPECT_THAT(said, testing::HasSubstr("another pattern"));
  const std::string good = read_file(path_);
  for (std::size_t at = 0; at < good.size(); at += at < 200 ? 1 : 97) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    write_file_atomically(path_, bad);
    ASSERT_EQ(load(), SXT_E_PLAN) << "byte " << at;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{200}, good.size() - 1}) {
    write_file_atomically(path_, good.substr(0, size));
    EXPECT_EQ(load(), SXT_E_PLAN) << size;
  }
  write_file_atomically(path_, good + "x");
  EXPECT_EQ(load(), SXT_E_PLAN);
  // The hash says so and the pattern does not: entries without a place.
  write_file_atomically(path_, good);
  form_ = form(600, dense(600), Triangles::lower, SXT_I32, SXT_I64);
  EXPECT_EQ(load(&said), SXT_E_PLAN);
  EXPECT_THAT(said, testing::HasSubstr("another pattern"));
}

TEST(CholeskySummaryTest, ASupernodeWiderThanAllClasses) {
  Partition p;
  p.n = 50000, p.n_super = 1;
  p.super_ptr = Array<std::int64_t>(2);
  p.super_ptr[0] = 0, p.super_ptr[1] = 50000;
  p.parent = Array<std::int32_t>(1, -1), p.rows = Array<std::int32_t>(1, 50000);
  const sxt_cholesky_query q = summary(p);
  EXPECT_EQ(q.classes[SXT_CHOLESKY_CLASSES - 1].count, 1);
  EXPECT_EQ(q.max_width, 50000);
}

}  // namespace
