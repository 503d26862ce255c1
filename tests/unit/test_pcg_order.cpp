// SPDX-License-Identifier: BSD-3-Clause
// A matrix with its rows in another order: entries, values, new values; and where the model makes such an order for a
// solve, on a machine with tiny caches and slow gathers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/matrix/renumber.hpp"
#include "core/pcg/solver.hpp"

namespace sextant {
namespace {

std::shared_ptr<Context> slow_gathers(const Allocator &allocator = {}) {
  ContextSettings settings;
  settings.allocator = allocator;
  settings.device = "cpu";
  settings.threads = 2;
  const auto context = std::make_shared<Context>(settings);
  sxt_machine &machine = context->device().machine();
  machine.unit_cache_bytes = 1 << 14;
  machine.cache_bytes = 1 << 15;
  machine.gather_rate = machine.gather_rate_unit = 1e6;
  machine.cached_gather_rate = 1e7;
  return context;
}

struct Entries {
  std::int64_t n = 0;
  std::vector<std::int32_t> row, col;
  std::vector<double> values;
  void add(std::int32_t i, std::int32_t j, double value) {
    row.push_back(i), col.push_back(j), values.push_back(value);
  }
  std::shared_ptr<Matrix> matrix(const std::shared_ptr<Context> &context) const {
    EntryArrays entries;
    entries.rows = entries.cols = n;
    entries.nnz = static_cast<std::int64_t>(row.size());
    entries.row = row.data();
    entries.col = col.data();
    entries.values = values.data();
    return std::make_shared<Matrix>(context, assemble(entries, {}, context->allocator()), SXT_GENERAL);
  }
};

std::vector<std::int32_t> random_names(std::int64_t n, unsigned seed) {
  std::vector<std::int32_t> name(static_cast<std::size_t>(n));
  std::iota(name.begin(), name.end(), 0);
  std::mt19937 random(seed);
  for (std::size_t i = name.size() - 1; i > 0; --i) std::swap(name[i], name[random() % (i + 1)]);
  return name;
}

Entries grid(std::int32_t side, bool shuffled) {
  Entries out;
  out.n = std::int64_t{side} * side;
  std::vector<std::int32_t> name(static_cast<std::size_t>(out.n));
  std::iota(name.begin(), name.end(), 0);
  if (shuffled) name = random_names(out.n, 7);
  const auto at = [&](std::int32_t x, std::int32_t y) { return name[static_cast<std::size_t>(x + side * y)]; };
  for (std::int32_t y = 0; y < side; ++y)
    for (std::int32_t x = 0; x < side; ++x) {
      out.add(at(x, y), at(x, y), 4.01);
      if (x > 0) out.add(at(x, y), at(x - 1, y), -1), out.add(at(x - 1, y), at(x, y), -1);
      if (y > 0) out.add(at(x, y), at(x, y - 1), -1), out.add(at(x, y - 1), at(x, y), -1);
    }
  return out;
}

// Rows of 0 to 90 entries, so that both ways of sorting a row are used; not symmetric; all values different.
Entries uneven() {
  Entries out;
  out.n = 200;
  std::mt19937 random(2);
  for (std::int32_t i = 0; i < 200; ++i)
    for (const std::int32_t j : random_names(200, random())) {
      if (j >= i % 91) continue;
      out.add(i, (j * 7) % 200, static_cast<double>(out.row.size()) + 1);
    }
  return out;
}

void expect_renumbered(const Matrix &a, const Matrix &b, const std::vector<std::int32_t> &perm) {
  const auto *a_ptr = a.csr().row_ptr.as<std::int32_t>(), *b_ptr = b.csr().row_ptr.as<std::int32_t>();
  const auto *a_col = a.csr().col.as<std::int32_t>(), *b_col = b.csr().col.as<std::int32_t>();
  const auto *a_values = a.csr().values.as<double>(), *b_values = b.csr().values.as<double>();
  for (std::size_t k = 0; k < perm.size(); ++k) {
    const std::int32_t i = perm[k];
    ASSERT_EQ(b_ptr[k + 1] - b_ptr[k], a_ptr[i + 1] - a_ptr[i]);
    for (std::int32_t e = b_ptr[k]; e < b_ptr[k + 1]; ++e) {
      ASSERT_TRUE(e == b_ptr[k] || b_col[e - 1] < b_col[e]);
      const std::int32_t j = perm[static_cast<std::size_t>(b_col[e])];
      const std::int32_t *found = std::lower_bound(a_col + a_ptr[i], a_col + a_ptr[i + 1], j);
      ASSERT_TRUE(found != a_col + a_ptr[i + 1] && *found == j);
      ASSERT_EQ(b_values[e], a_values[found - a_col]);
    }
  }
}

TEST(RenumberedTest, EveryEntryMovesWithItsValue) {
  const auto context = slow_gathers();
  for (const Entries &entries : {uneven(), grid(50, true)}) {
    const auto a = entries.matrix(context);
    const std::vector<std::int32_t> perm = random_names(entries.n, 11);
    const auto b = renumbered(*a, perm.data());
    expect_renumbered(*a, *b, perm);
    std::vector<double> values(entries.values);
    for (double &each : values) each = -3 * each + 1;
    a->update_values(values.data(), static_cast<std::int64_t>(values.size()));
    b->update_values(a->csr().values.data(), a->csr().nnz);
    expect_renumbered(*a, *b, perm);
  }
}

TEST(RenumberedTest, BandwidthIsThatOfTheFurthestEntry) {
  const auto context = slow_gathers();
  EXPECT_EQ(bandwidth_of(grid(30, false).matrix(context)->csr(), 2), 30);
  Entries one;
  one.n = 10;
  one.add(2, 9, 1), one.add(3, 1, 1);
  EXPECT_EQ(bandwidth_of(one.matrix(context)->csr(), 1), 7);
}

TEST(RenumberedTest, ABandwidthTakesTimeWithTheEntries) {
  const auto context = slow_gathers();
  const double few = bandwidth_seconds(*grid(30, false).matrix(context)),
               many = bandwidth_seconds(*grid(90, false).matrix(context));
  EXPECT_GT(few, 0);
  EXPECT_GT(many, 2 * few);  // nine times the entries, and perhaps on two threads
}

std::string plan_of(std::shared_ptr<Matrix> matrix, double solves) {
  PcgSettings settings;
  settings.preconditioner = "jacobi";
  settings.expected_solves = solves;
  const PcgSolver solver(std::move(matrix), settings);
  std::string text;
  const Explanation explanation = solver.explain();
  for (const auto &[name, value] : explanation.facts) text += name + ": " + value + "\n";
  for (const std::string &note : explanation.notes) text += note + "\n";
  return text;
}

std::string plan_of(const Entries &entries, double solves) { return plan_of(entries.matrix(slow_gathers()), solves); }

bool contains(const std::string &text, const char *what) { return text.find(what) != std::string::npos; }

TEST(PcgOrderTest, RenumbersWhereGathersDominate) {
  const std::string text = plan_of(grid(90, true), 1000);
  EXPECT_TRUE(contains(text, "renumbered by ordering.rcm.cpu: predicted ")) << text;
  EXPECT_TRUE(contains(text, "order: ordering.rcm.cpu, bandwidth 8")) << text;
}

TEST(PcgOrderTest, LeavesANaturalOrder) {
  const std::string text = plan_of(grid(90, false), 1000);
  EXPECT_TRUE(contains(text, "order: the caller's")) << text;
  EXPECT_FALSE(contains(text, "renumbered by")) << text;
}

TEST(PcgOrderTest, KeepsThePreconditioner) {
  PcgSettings settings;
  settings.reorder = 1;
  for (const char *const method : {"none", "jacobi"}) {
    settings.preconditioner = method;
    const PcgSolver solver(grid(20, true).matrix(slow_gathers()), settings);
    const Explanation explanation = solver.explain();
    EXPECT_EQ(explanation.facts.at(1).second.rfind(method, 0), 0u) << explanation.facts.at(1).second;
    EXPECT_NE(explanation.facts.at(3).second, "the caller's");
  }
}

TEST(PcgOrderTest, LeavesASystemThatIsSolvedOnce) {
  const std::string text = plan_of(grid(20, true), 1);
  EXPECT_TRUE(contains(text, "in the caller's order: another order would take about ")) << text;
}

// Entries anywhere: the search gives up.
TEST(PcgOrderTest, GivesUpOnAPatternWithoutAnOrder) {
  Entries entries;
  entries.n = 20000;
  std::mt19937 random(5);
  for (std::int32_t i = 0; i < 20000; ++i) {
    entries.add(i, i, 30);
    for (int k = 0; k < 4; ++k) {
      const auto j = static_cast<std::int32_t>(random() % 20000);
      if (j != i) entries.add(i, j, -1), entries.add(j, i, -1);
    }
  }
  const std::string text = plan_of(entries, 10000);
  EXPECT_TRUE(contains(text, "rows in one level, so no order keeps them together")) << text;
  EXPECT_TRUE(contains(text, "order: the caller's")) << text;
}

// The large allocations of a set-up fail, one in each run.
struct Scarce {
  std::uint64_t large = 0;
  int refuse = 0, asked = 0;
  Allocator hooks() {
    return {this,
            [](void *user, std::uint64_t bytes, std::uint64_t alignment) -> void * {
              auto &self = *static_cast<Scarce *>(user);
              if (self.large > 0 && bytes >= self.large && ++self.asked == self.refuse) return nullptr;
              return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
            },
            [](void *, void *memory) { std::free(memory); }};
  }
};

TEST(PcgOrderTest, WithoutMemoryForAnotherOrderTheCallersServes) {
  const Entries entries = grid(80, true);
  int kept = 0;
  for (int n = 0, most = 0; n <= most; ++n) {  // first none, to count them
    Scarce scarce;
    const auto matrix = entries.matrix(slow_gathers(scarce.hooks()));
    scarce.large = matrix->csr().col.bytes();
    scarce.refuse = n;
    try {
      kept += contains(plan_of(matrix, 1000), "there was no memory for another");
    } catch (const Error &problem) {
      EXPECT_EQ(problem.status(), SXT_E_MEMORY);
    }
    if (n == 0) most = std::min(scarce.asked, 40);
  }
  EXPECT_GE(kept, 3);  // columns, values, and the way of new values
}

}  // namespace
}  // namespace sextant
