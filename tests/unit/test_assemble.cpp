// SPDX-License-Identifier: BSD-3-Clause
// assemble() and update_values(): every layout, type and base against a dense sum a person can follow, the same bits
// for any number of threads, and updates that equal a new assembly.
#include <cstdint>
#include <random>
#include <vector>

#include "core/matrix/assemble.hpp"
#include "tests/unit/test_matrix_market_util.hpp"

namespace sextant::test {
namespace {

// Entries in coordinate form, zero-based, from which each layout is made.
struct Triple {
  std::int64_t row, col;
  std::complex<double> value;
};

template <class I, class V>
struct Input {
  std::vector<I> row, col;
  std::vector<std::int64_t> pointer;  // i64 with i32 indices and the other way round
  std::vector<std::int32_t> short_pointer;
  std::vector<V> values;
  EntryArrays arrays;
};

template <class V>
V value_as(std::complex<double> value) {
  if constexpr (is_complex<V>)
    return V(value);
  else
    return static_cast<V>(value.real());
}

// The order of the triples that a layout needs: as given, grouped by row or by column.
std::vector<Triple> grouped(std::vector<Triple> triples, EntryArrays::Layout layout) {
  const auto major = [&](const Triple &t) { return layout == EntryArrays::Layout::csr ? t.row : t.col; };
  if (layout != EntryArrays::Layout::coo)
    std::stable_sort(triples.begin(), triples.end(),
                     [&](const Triple &a, const Triple &b) { return major(a) < major(b); });
  return triples;
}

template <class I, class V>
void fill_input(Input<I, V> &in, const std::vector<Triple> &triples, EntryArrays::Layout layout, std::int64_t rows,
                std::int64_t cols, int base) {
  EntryArrays &a = in.arrays;
  a.layout = layout;
  a.rows = rows, a.cols = cols, a.nnz = static_cast<std::int64_t>(triples.size());
  a.index_type = index_type_of<I>, a.value_type = value_type_of<V>;
  for (const Triple &t : triples) {
    in.row.push_back(static_cast<I>(t.row + base));
    in.col.push_back(static_cast<I>(t.col + base));
    in.values.push_back(value_as<V>(t.value));
  }
  a.row = in.row.data(), a.col = in.col.data(), a.values = in.values.data();
  if (layout == EntryArrays::Layout::coo) return;
  const bool csr = layout == EntryArrays::Layout::csr;
  in.pointer.assign(static_cast<std::size_t>((csr ? rows : cols) + 1), base);
  for (const Triple &t : triples)
    for (std::size_t i = static_cast<std::size_t>(csr ? t.row : t.col) + 1; i < in.pointer.size(); ++i) ++in.pointer[i];
  in.short_pointer.assign(in.pointer.begin(), in.pointer.end());
  const bool wide = index_type_of<I> == SXT_I32;
  a.offset_type = wide ? SXT_I64 : SXT_I32;
  (csr ? a.row : a.col) = wide ? static_cast<const void *>(in.pointer.data()) : in.short_pointer.data();
}

const std::vector<EntryArrays::Layout> kLayouts{EntryArrays::Layout::coo, EntryArrays::Layout::csr,
                                                EntryArrays::Layout::csc};

// Unsorted, with a duplicate at (2, 1), an explicit zero and an empty row; sums are exact in every type.
const std::vector<Triple> kSmall{{2, 3, 1}, {0, 1, {2, 1}},   {2, 1, 4}, {0, 0, 8},
                                 {3, 2, 0}, {2, 1, {16, -2}}, {0, 4, -1}};

template <class I, class V>
void expect_small(EntryArrays::Layout layout, int base) {
  Entries expected;
  for (const Triple &t : kSmall) expected[{t.row, t.col}] += std::complex<double>(value_as<V>(t.value));
  Input<I, V> in;
  fill_input(in, grouped(kSmall, layout), layout, 4, 5, base);
  AssemblyOptions options;
  options.index_base = base;
  const Assembled got = assemble(in.arrays, options, Allocator());
  EXPECT_EQ(entries_of(got.csr), expected);
  EXPECT_EQ(got.csr.value_type, value_type_of<V>);
  EXPECT_EQ(got.csr.index_type, SXT_I32);
  EXPECT_EQ(got.csr.offset_type, SXT_I32);
  EXPECT_TRUE(got.order.summed);
  EXPECT_FALSE(got.order.identity);
}

TEST(Assemble, EveryLayoutTypeAndBase) {
  for (const auto layout : kLayouts)
    for (const int base : {0, 1}) {
      SCOPED_TRACE(text(static_cast<int>(layout), " base ", base));
      expect_small<std::int32_t, float>(layout, base);
      expect_small<std::int32_t, double>(layout, base);
      expect_small<std::int32_t, c64>(layout, base);
      expect_small<std::int32_t, c128>(layout, base);
      expect_small<std::int64_t, float>(layout, base);
      expect_small<std::int64_t, double>(layout, base);
      expect_small<std::int64_t, c64>(layout, base);
      expect_small<std::int64_t, c128>(layout, base);
    }
}

TEST(Assemble, NoValuesMeansOnes) {
  for (const auto layout : kLayouts) {
    Input<std::int32_t, double> in;
    fill_input(in, grouped(kSmall, layout), layout, 4, 5, 0);
    in.arrays.values = nullptr;
    const Entries got = entries_of(assemble(in.arrays, {}, Allocator()).csr);
    EXPECT_EQ(got.size(), 6u);
    EXPECT_EQ(got.at({2, 1}), 2.0);
    EXPECT_EQ(got.at({3, 2}), 1.0);
  }
}

TEST(Assemble, OneTriangleIsMirroredByItsRule) {
  using C = std::complex<double>;
  const std::vector<Triple> lower{{2, 0, C(1, 2)}, {1, 0, C(3, -4)}, {2, 1, C(5, 6)}};
  for (const sxt_symmetry symmetry : {SXT_SYMMETRIC, SXT_HERMITIAN, SXT_SKEW})
    for (const sxt_triangle triangle : {SXT_LOWER, SXT_UPPER})
      for (const auto layout : kLayouts) {
        SCOPED_TRACE(text(symmetry, ' ', triangle, ' ', static_cast<int>(layout)));
        std::vector<Triple> triples = lower;
        if (symmetry != SXT_SKEW) triples.push_back({1, 1, 7.0});
        Entries expected;
        for (Triple &t : triples) {
          if (triangle == SXT_UPPER) std::swap(t.row, t.col);
          expected[{t.row, t.col}] = t.value;
          if (t.row != t.col)
            expected[{t.col, t.row}] = symmetry == SXT_SKEW        ? -t.value
                                       : symmetry == SXT_HERMITIAN ? std::conj(t.value)
                                                                   : t.value;
        }
        Input<std::int64_t, c128> in;
        fill_input(in, grouped(triples, layout), layout, 3, 3, 1);
        AssemblyOptions options;
        options.index_base = 1, options.symmetry = symmetry, options.triangle = triangle;
        EXPECT_EQ(entries_of(assemble(in.arrays, options, Allocator()).csr), expected);
      }
}

TEST(Assemble, CanonicalInputTakesTheShortPath) {
  const std::vector<Triple> sorted{{0, 0, 1}, {0, 3, 2}, {2, 1, 3}, {2, 2, 4}, {3, 0, 5}};
  for (const auto layout : {EntryArrays::Layout::coo, EntryArrays::Layout::csr})
    for (const int base : {0, 1}) {
      Input<std::int64_t, double> in;
      fill_input(in, sorted, layout, 5, 4, base);
      AssemblyOptions options;
      options.index_base = base;
      CountingAllocator memory;
      const Assembled got = assemble(in.arrays, options, memory.hooks());
      EXPECT_TRUE(got.order.identity && got.order.kept && got.order.slot.empty());
      Entries expected;
      for (const Triple &t : sorted) expected[{t.row, t.col}] = t.value;
      EXPECT_EQ(entries_of(got.csr), expected);
      // Nothing but the result was ever allocated.
      EXPECT_EQ(memory.peak(), memory.held());
    }
}

// The one place that is out of order lies between the parts of two threads.
TEST(Assemble, AFallBetweenTwoThreadsPartsIsSeen) {
  constexpr std::int64_t n = 80000;
  std::vector<Triple> triples;
  for (std::int64_t k = 0; k < n; ++k) triples.push_back({0, k, static_cast<double>(k)});
  std::rotate(triples.begin(), triples.begin() + n / 2, triples.end());
  Input<std::int32_t, double> in;
  fill_input(in, triples, EntryArrays::Layout::coo, 1, n, 0);
  AssemblyOptions options;
  options.threads = 2;
  const Assembled got = assemble(in.arrays, options, Allocator());
  EXPECT_FALSE(got.order.identity);
  for (std::int64_t k = 0; k < n; ++k) ASSERT_EQ(got.csr.values.as<double>()[k], static_cast<double>(k));
}

TEST(Assemble, EmptyMatrices) {
  EntryArrays none;
  EXPECT_EQ(entries_of(assemble(none, {}, Allocator()).csr), Entries());
  none.rows = 3, none.cols = 2;
  const Assembled got = assemble(none, {}, Allocator());
  EXPECT_EQ(entries_of(got.csr), Entries());
  Input<std::int32_t, double> csr;
  fill_input(csr, {}, EntryArrays::Layout::csr, 0, 0, 1);
  AssemblyOptions options;
  options.index_base = 1;
  EXPECT_EQ(entries_of(assemble(csr.arrays, options, Allocator()).csr), Entries());
}

// Large enough for several threads; values whose sums depend on the order they are taken in.
std::vector<Triple> make_large(bool lower_only, int n, int count, bool with_long_row) {
  std::mt19937_64 random(11);
  std::vector<Triple> out;
  for (int k = 0; k < count; ++k) {
    std::int64_t row = static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
    std::int64_t col = static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
    // Every fifth entry in one row: longer than any small-row method takes.
    if (with_long_row && k % 5 == 0) row = n / 2;
    if (lower_only && col > row) std::swap(row, col);
    const double value = static_cast<double>(random() % 1000003) / 997.0;
    out.push_back({row, col, {value, row == col ? 0.0 : 1.0 / value}});
  }
  return out;
}

template <class V>
Entries sums(const std::vector<Triple> &triples, bool hermitian) {
  std::map<std::pair<std::int64_t, std::int64_t>, V> sum;
  const auto add = [&](std::int64_t r, std::int64_t c, V v) {
    const auto [place, fresh] = sum.try_emplace({r, c}, v);
    if (!fresh) place->second += v;
  };
  for (const Triple &t : triples) {
    const V v = value_as<V>(t.value);
    add(t.row, t.col, v);
    if constexpr (is_complex<V>)
      if (hermitian && t.row != t.col) add(t.col, t.row, std::conj(v));
    if constexpr (!is_complex<V>)
      if (hermitian && t.row != t.col) add(t.col, t.row, v);
  }
  Entries out;
  for (const auto &[place, value] : sum) out[place] = std::complex<double>(value);
  return out;
}

template <class V>
void expect_large(const std::vector<Triple> &triples, int n, bool hermitian) {
  for (const auto layout : kLayouts) {
    const std::vector<Triple> ordered = grouped(triples, layout);
    // In the input order of this layout.
    const Entries expected = sums<V>(ordered, hermitian);
    Input<std::int32_t, V> in;
    fill_input(in, ordered, EntryArrays::Layout::coo, n, n, 0);
    std::string first;
    for (const int threads : {1, 2, 7}) {
      AssemblyOptions options;
      options.threads = threads;
      if (hermitian) options.symmetry = SXT_HERMITIAN, options.triangle = SXT_LOWER;
      Assembled got = assemble(in.arrays, options, Allocator());
      if (first.empty()) {
        EXPECT_EQ(entries_of(got.csr), expected);
        first = bytes_of(got.csr);
      }
      EXPECT_EQ(bytes_of(got.csr), first) << threads;
      // The same values again must give the same bits again.
      std::fill(got.csr.values.template as<V>(), got.csr.values.template as<V>() + got.csr.nnz, V(-1));
      update_values(got.csr, got.order, in.values.data(), true, threads);
      EXPECT_EQ(bytes_of(got.csr), first) << threads;
    }
  }
}

TEST(Assemble, SumsInInputOrderOnAnyNumberOfThreads) {
  expect_large<double>(make_large(false, 300, 70000, false), 300, false);
  expect_large<float>(make_large(false, 700, 70000, true), 700, false);
  expect_large<c128>(make_large(true, 400, 70000, true), 400, true);
}

TEST(Assemble, ParallelLayoutsAgreeWithSerial) {
  const std::vector<Triple> triples = make_large(false, 500, 100000, true);
  for (const auto layout : kLayouts) {
    // Pointers of a grouped input, built in one pass because there are many entries.
    const std::vector<Triple> ordered = grouped(triples, layout);
    Input<std::int64_t, double> in;
    fill_input(in, ordered, EntryArrays::Layout::coo, 500, 500, 1);
    if (layout != EntryArrays::Layout::coo) {
      in.pointer.assign(501, 0);
      for (const Triple &t : ordered)
        ++in.pointer[static_cast<std::size_t>(layout == EntryArrays::Layout::csr ? t.row : t.col) + 1];
      in.pointer[0] = 1;
      for (std::size_t i = 1; i < in.pointer.size(); ++i) in.pointer[i] += in.pointer[i - 1];
      in.arrays.layout = layout;
      in.arrays.offset_type = SXT_I64;
      (layout == EntryArrays::Layout::csr ? in.arrays.row : in.arrays.col) = in.pointer.data();
    }
    const Entries expected = sums<double>(ordered, false);
    for (const int threads : {1, 3}) {
      AssemblyOptions options;
      options.index_base = 1, options.threads = threads;
      EXPECT_EQ(entries_of(assemble(in.arrays, options, Allocator()).csr), expected);
    }
  }
}

TEST(UpdateValues, FollowTheCallersOrder) {
  for (const auto layout : kLayouts) {
    Input<std::int32_t, double> in;
    std::vector<Triple> triples = grouped(kSmall, layout);
    fill_input(in, triples, layout, 4, 5, 0);
    Assembled got = assemble(in.arrays, {}, Allocator());
    ASSERT_TRUE(got.order.kept);
    std::vector<double> fresh;
    Entries expected;
    for (std::size_t k = 0; k < triples.size(); ++k) {
      fresh.push_back(100.0 + static_cast<double>(k));
      expected[{triples[k].row, triples[k].col}] += fresh.back();
    }
    update_values(got.csr, got.order, fresh.data(), true, 1);
    EXPECT_EQ(entries_of(got.csr), expected);
  }
}

TEST(UpdateValues, ReachMirrorImages) {
  using C = std::complex<double>;
  Input<std::int32_t, c128> in;
  fill_input(in, {{1, 0, C(1, 1)}, {0, 0, 2.0}}, EntryArrays::Layout::coo, 2, 2, 0);
  AssemblyOptions options;
  options.symmetry = SXT_HERMITIAN, options.triangle = SXT_LOWER;
  Assembled got = assemble(in.arrays, options, Allocator());
  const std::vector<c128> fresh{C(3, 4), 5.0};
  update_values(got.csr, got.order, fresh.data(), true, 1);
  EXPECT_EQ(entries_of(got.csr), (Entries{{{0, 0}, 5.0}, {{1, 0}, C(3, 4)}, {{0, 1}, C(3, -4)}}));
}

TEST(UpdateValues, WithoutAKeptOrderTakeCanonicalOrder) {
  Input<std::int32_t, double> in;
  fill_input(in, kSmall, EntryArrays::Layout::coo, 4, 5, 0);
  AssemblyOptions options;
  options.keep_order = false;
  Assembled got = assemble(in.arrays, options, Allocator());
  EXPECT_FALSE(got.order.kept);
  EXPECT_TRUE(got.order.slot.empty());
  const std::vector<double> fresh{1, 2, 3, 4, 5, 6};
  update_values(got.csr, got.order, fresh.data(), true, 1);
  EXPECT_EQ(entries_of(got.csr),
            (Entries{{{0, 0}, 1.0}, {{0, 1}, 2.0}, {{0, 4}, 3.0}, {{2, 1}, 4.0}, {{2, 3}, 5.0}, {{3, 2}, 6.0}}));
}

TEST(UpdateValues, AllocateNothing) {
  Input<std::int32_t, double> in;
  fill_input(in, kSmall, EntryArrays::Layout::coo, 4, 5, 0);
  CountingAllocator memory;
  Assembled got = assemble(in.arrays, {}, memory.hooks());
  memory.restart();
  const std::int64_t before = memory.held();
  update_values(got.csr, got.order, in.values.data(), true, 1);
  EXPECT_EQ(memory.peak(), before);
}

}  // namespace
}  // namespace sextant::test
