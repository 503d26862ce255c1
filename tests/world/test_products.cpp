// SPDX-License-Identifier: BSD-3-Clause
// Matrices, products and vector operations of worlds against one context, with threads as ranks: 1, 2, 3 and 5 of them,
// several members a rank, members without rows, matrices of many shapes.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "support.hpp"

namespace world_test {
namespace {

struct Shape {
  std::vector<std::int64_t> rows;  // of each rank
  std::vector<int> members;        // of each rank
};

std::vector<Shape> shapes(std::int64_t rows) {
  return {{shares(rows, 1), {1}},
          {shares(rows, 1), {3}},
          {shares(rows, 2), {1, 1}},
          {shares(rows, 3), {1, 2, 1}},
          {shares(rows, 5), {1, 1, 1, 1, 1}},
          {{0, rows - 1, 0, 1, 0}, {1, 2, 1, 3, 1}},  // ranks without rows, and members without
          {{rows, 0}, {2, 2}}};
}

std::vector<Csr> matrices() {
  Csr full;  // every row needs every other
  full.rows = full.cols = 17;
  for (int i = 0; i < 17; ++i) {
    for (int j = 0; j < 17; ++j) full.entry(j, i == j ? 20 : 1 + 0.01 * (i + j));
    full.end_row();
  }
  Csr empty_rows;  // rows without entries, and one far from its column's owner
  empty_rows.rows = empty_rows.cols = 23;
  for (int i = 0; i < 23; ++i) {
    if (i % 4 == 1) empty_rows.entry(22 - i, i);
    empty_rows.end_row();
  }
  return {api_test::laplacian(9), api_test::shuffled(api_test::laplacian(12)),
          api_test::diagonal({1, 2, 3, 4, 5, 6, 7}), full, empty_rows};
}

// y = alpha A x + beta y as one context computes it.
std::vector<double> expected_product(const Csr &a, const std::vector<double> &x, double alpha, double beta,
                                     const std::vector<double> &y) {
  std::vector<double> out = a.times(x);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = alpha * out[i] + beta * y[i];
  return out;
}

TEST(WorldProducts, AreThoseOfOneContext) {
  for (const Csr &a : matrices())
    for (const Shape &shape : shapes(a.rows)) {
      const int ranks = static_cast<int>(shape.rows.size());
      const std::vector<double> x = waves(a.rows), y = waves(a.rows, 1);
      const std::vector<double> plain = a.times(x), scaled = expected_product(a, x, -1.5, 0.25, y);
      const Comms comms = new_comms(ranks);
      on_ranks(ranks, [&](int r) {
        const sxt_comm comm = comm_of(comms, r);
        const Rank rank(&comm, shape.members[static_cast<std::size_t>(r)]);
        ASSERT_TRUE(rank.world) << rank.error();
        const Rows rows = rows_of(shape.rows, r);
        const Matrix matrix = rows_matrix(rank, a, rows);
        ASSERT_TRUE(matrix);
        sxt_matrix_info info{};
        info.struct_size = sizeof info;
        ASSERT_EQ(sxt_matrix_get_info(matrix.get(), &info), SXT_OK);
        EXPECT_EQ(info.nnz, static_cast<std::int64_t>(a.values.size()));
        EXPECT_EQ(info.rows, a.rows);
        const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
        EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}), rows.count);
        const Vector in = part_of(rank, lengths, x, rows.begin), out = part_of(rank, lengths, y, rows.begin);
        ASSERT_EQ(sxt_vector_length(in.get()), rows.count);
        const double alpha = -1.5, beta = 0.25;
        ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, &alpha, matrix.get(), in.get(), &beta, out.get()), SXT_OK) << rank.error();
        const auto compare = [&](const std::vector<double> &whole) {
          const std::vector<double> here = values_of(out);
          for (std::size_t i = 0; i < here.size(); ++i)
            EXPECT_NEAR(here[i], whole[static_cast<std::size_t>(rows.begin) + i], 1e-12 * (1 + std::fabs(here[i])));
        };
        compare(scaled);
        ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), in.get(), nullptr, out.get()), SXT_OK);
        compare(plain);
      });
    }
}

// Whole numbers, whose sums are exact whatever the order.
TEST(WorldVectors, ReductionsAreThoseOfAllMembers) {
  const std::int64_t n = 41;
  std::vector<double> x(n), y(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = (i * 7 + 3) % 11 - 5, y[i] = (i * 5) % 13 - 6;
  x[17] = x[29] = -40;  // the largest magnitude, twice
  for (const Shape &shape : shapes(n)) {
    const int ranks = static_cast<int>(shape.rows.size());
    const Comms comms = new_comms(ranks);
    on_ranks(ranks, [&](int r) {
      const sxt_comm comm = comm_of(comms, r);
      const Rank rank(&comm, shape.members[static_cast<std::size_t>(r)]);
      const Rows rows = rows_of(shape.rows, r);
      std::vector<std::int64_t> lengths(static_cast<std::size_t>(rank.info.own), 0);
      for (std::int64_t i = 0; i < rows.count; ++i) ++lengths[static_cast<std::size_t>(i) % lengths.size()];
      const Vector a = part_of(rank, lengths, x, rows.begin), b = part_of(rank, lengths, y, rows.begin);
      double found = 0;
      const auto expect = [&](sxt_status status, double wanted) {
        EXPECT_EQ(status, SXT_OK) << rank.error();
        EXPECT_EQ(found, wanted);
      };
      expect(sxt_sum(a.get(), &found), std::accumulate(x.begin(), x.end(), 0.0));
      expect(sxt_dot(a.get(), b.get(), &found), std::inner_product(x.begin(), x.end(), y.begin(), 0.0));
      expect(sxt_dotc(a.get(), b.get(), &found), std::inner_product(x.begin(), x.end(), y.begin(), 0.0));
      expect(sxt_asum(a.get(), &found),
             std::accumulate(x.begin(), x.end(), 0.0, [](double sum, double v) { return sum + std::fabs(v); }));
      expect(sxt_amax(a.get(), &found), 40);
      expect(sxt_min(a.get(), &found), -40);
      expect(sxt_max(a.get(), &found), *std::max_element(x.begin(), x.end()));
      EXPECT_EQ(sxt_nrm2(a.get(), &found), SXT_OK);
      EXPECT_NEAR(found, std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0)), 1e-12 * found);
      std::int64_t at = -2;
      EXPECT_EQ(sxt_iamax(a.get(), &at), SXT_OK);
      EXPECT_EQ(at, 17) << "global, the first of them";
      const sxt_vector *const left[] = {a.get(), b.get()}, *const right[] = {b.get(), b.get()};
      std::array<double, 2> dots{};
      EXPECT_EQ(sxt_multidot(2, left, right, dots.data()), SXT_OK) << rank.error();
      EXPECT_EQ(dots[0], std::inner_product(x.begin(), x.end(), y.begin(), 0.0));
      EXPECT_EQ(dots[1], std::inner_product(y.begin(), y.end(), y.begin(), 0.0));
    });
  }
}

TEST(WorldVectors, ANaNIsFoundWhereItIs) {
  const int ranks = 3;
  const Comms comms = new_comms(ranks);
  on_ranks(ranks, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, 1);
    std::vector<double> values{1, -2, 3};
    if (r == 1) values[2] = std::numeric_limits<double>::quiet_NaN();
    const std::vector<std::int64_t> lengths{3};
    const Vector x = part_of(rank, lengths, values, 0);
    double found = 0;
    for (const auto reduction : {sxt_sum, sxt_nrm2, sxt_asum, sxt_amax, sxt_min, sxt_max}) {
      EXPECT_EQ(reduction(x.get(), &found), SXT_OK);
      EXPECT_TRUE(std::isnan(found));
    }
    std::int64_t at = 0;
    EXPECT_EQ(sxt_iamax(x.get(), &at), SXT_OK);
    EXPECT_EQ(at, 5);
  });
}

// Nothing in all of them, and numbers whose squares leave the range.
TEST(WorldVectors, EmptyOnesAndLargeNumbers) {
  const int ranks = 2;
  const Comms comms = new_comms(ranks);
  on_ranks(ranks, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, 2);
    const Vector nothing = part_of(rank, {0, 0}, {}, 0), large = part_of(rank, {1, 0}, {3e200 + r * 1e200}, 0);
    double found = 1;
    EXPECT_EQ(sxt_sum(nothing.get(), &found), SXT_OK);
    EXPECT_EQ(found, 0);
    EXPECT_EQ(sxt_min(nothing.get(), &found), SXT_OK);
    EXPECT_EQ(found, std::numeric_limits<double>::infinity());
    std::int64_t at = 0;
    EXPECT_EQ(sxt_iamax(nothing.get(), &at), SXT_OK);
    EXPECT_EQ(at, -1);
    EXPECT_EQ(sxt_nrm2(large.get(), &found), SXT_OK);
    EXPECT_NEAR(found, 5e200, 1e186);
  });
}

TEST(WorldVectors, OperationsWorkPartByPart) {
  const Rank rank(nullptr, 3);
  ASSERT_TRUE(rank.world);
  const std::vector<std::int64_t> lengths{2, 0, 3};
  const std::vector<double> x{1, 2, 3, 4, 5}, y{5, 4, 3, 2, 1};
  const Vector a = part_of(rank, lengths, x, 0), b = part_of(rank, lengths, y, 0), c = part_of(rank, lengths, {}, 0);
  EXPECT_EQ(values_of(c), std::vector<double>(5, 0));
  EXPECT_EQ(sxt_vector_data(a.get()), nullptr) << "it has several parts";
  const double two = 2, three = 3;
  ASSERT_EQ(sxt_waxpby(&two, a.get(), &three, b.get(), c.get()), SXT_OK);
  EXPECT_EQ(values_of(c), (std::vector<double>{17, 16, 15, 14, 13}));
  ASSERT_EQ(sxt_multiply(a.get(), b.get(), c.get()), SXT_OK);
  EXPECT_EQ(values_of(c), (std::vector<double>{5, 8, 9, 8, 5}));
  ASSERT_EQ(sxt_axpy(&two, a.get(), c.get()), SXT_OK);
  ASSERT_EQ(sxt_axpby(&two, b.get(), &three, c.get()), SXT_OK);
  ASSERT_EQ(sxt_scale(&two, c.get()), SXT_OK);
  ASSERT_EQ(sxt_copy(c.get(), a.get()), SXT_OK);
  EXPECT_EQ(values_of(a), (std::vector<double>{62, 88, 102, 104, 94}));
  ASSERT_EQ(sxt_fill(&two, a.get()), SXT_OK);
  EXPECT_EQ(values_of(a), std::vector<double>(5, 2));
}

// Memory of the caller, one array a member.
TEST(WorldVectors, WrapTheCallersArrays) {
  const Rank rank(nullptr, 2);
  std::vector<double> first{1, 2}, second{3};
  const std::vector<std::int64_t> lengths{2, 1};
  void *const data[] = {first.data(), second.data()};
  const sxt_space spaces[] = {SXT_SPACE_HOST, SXT_SPACE_HOST};
  const Vector x = api_test::make<Vector>([&](sxt_vector **out) {
    return sxt_world_vector_wrap(rank.world.get(), lengths.data(), SXT_F64, spaces, data, out);
  });
  const double two = 2;
  ASSERT_EQ(sxt_scale(&two, x.get()), SXT_OK);
  EXPECT_EQ(first, (std::vector<double>{2, 4}));
  EXPECT_EQ(second, std::vector<double>{6});
}

// Entries of every row on every rank, some of them on several: each is summed where its row belongs.
TEST(WorldMatrices, EntriesGoToTheOwnersOfTheirRows) {
  const Csr a = api_test::shuffled(api_test::laplacian(8));
  const int ranks = 3;
  const std::vector<double> x = waves(a.rows), expected = a.times(x), doubled = a.renewed().times(x);
  const std::vector<double> fresh = a.renewed().values;
  const std::vector<std::int64_t> counts{20, 0, a.rows - 20};
  const Comms comms = new_comms(ranks);
  on_ranks(ranks, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, 2);
    std::vector<std::int64_t> row, col;
    std::vector<double> values, newer;
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k)
        if (k % ranks == r || k % 5 == 0) {  // a third of them, and a share of every fifth
          const double share = k % 5 == 0 ? 1.0 / 3 : 1;
          if (k % 5 != 0 && k % ranks != r) continue;
          row.push_back(i + 1), col.push_back(a.col[static_cast<std::size_t>(k)] + 1);
          values.push_back(a.values[static_cast<std::size_t>(k)] * share);
          newer.push_back(fresh[static_cast<std::size_t>(k)] * share);
        }
    sxt_matrix_options options = api_test::matrix_options();
    options.index_type = SXT_I64;
    options.index_base = 1;
    const Rows rows = rows_of(counts, r);
    sxt_matrix *made = nullptr;
    ASSERT_EQ(sxt_matrix_from_coo_rows(rank.world.get(), a.rows, a.cols, rows.begin, rows.count,
                                       static_cast<std::int64_t>(row.size()), row.data(), col.data(), values.data(),
                                       &options, &made),
              SXT_OK)
        << rank.error();
    const Matrix matrix(made);
    const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
    const Vector in = part_of(rank, lengths, x, rows.begin), out = part_of(rank, lengths, {}, 0);
    const auto compare = [&](const std::vector<double> &whole) {
      ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), in.get(), nullptr, out.get()), SXT_OK)
          << rank.error();
      const std::vector<double> here = values_of(out);
      for (std::size_t i = 0; i < here.size(); ++i)
        EXPECT_NEAR(here[i], whole[static_cast<std::size_t>(rows.begin) + i], 1e-12 * (1 + std::fabs(here[i])));
    };
    compare(expected);
    ASSERT_EQ(sxt_matrix_update_values(matrix.get(), newer.data(), static_cast<std::int64_t>(newer.size())), SXT_OK)
        << rank.error();
    compare(doubled);
  });
}

// All ranks take new values or none does.
TEST(WorldMatrices, NewValuesAreTakenByAllOrNone) {
  const Csr a = api_test::laplacian(10), newer = a.renewed();
  const int ranks = 2;
  const std::vector<double> x = waves(a.rows), before = a.times(x), after = newer.times(x);
  const Comms comms = new_comms(ranks);
  on_ranks(ranks, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, 1 + r);
    const Rows rows = rows_of(shares(a.rows, ranks), r);
    const Matrix matrix = rows_matrix(rank, a, rows);
    const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
    const Vector in = part_of(rank, lengths, x, rows.begin), out = part_of(rank, lengths, {}, 0);
    const auto compare = [&](const std::vector<double> &whole) {
      ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), in.get(), nullptr, out.get()), SXT_OK);
      const std::vector<double> here = values_of(out);
      for (std::size_t i = 0; i < here.size(); ++i)
        EXPECT_NEAR(here[i], whole[static_cast<std::size_t>(rows.begin) + i], 1e-12 * (1 + std::fabs(here[i])));
    };
    compare(before);
    Piece piece(newer, rows);
    const auto update = [&](std::int64_t count) {
      return sxt_matrix_update_values(matrix.get(), piece.values.data(), count);
    };
    const auto count = static_cast<std::int64_t>(piece.values.size());
    EXPECT_EQ(update(r == 1 ? count - 1 : count), SXT_E_DIMENSION);
    EXPECT_THAT(rank.error(), testing::HasSubstr("values of this process"));
    compare(before);
    const double good = piece.values[3];
    if (r == 0) piece.values[3] = std::numeric_limits<double>::infinity();
    EXPECT_EQ(update(count), SXT_E_NOT_FINITE);
    if (r == 1) {
      EXPECT_THAT(rank.error(), testing::HasSubstr("rank 0"));
    }
    compare(before);
    piece.values[3] = good;
    EXPECT_EQ(update(count), SXT_OK) << rank.error();
    compare(after);
  });
}

TEST(WorldMatrices, OneMatrixIsSplit) {
  const Csr a = api_test::shuffled(api_test::laplacian(15));
  const Context whole_context = api_test::cpu(1);
  const Matrix whole = a.matrix(whole_context);
  const Rank rank(nullptr, 4);
  const Matrix matrix = api_test::make<Matrix>(
      [&](sxt_matrix **out) { return sxt_matrix_split(rank.world.get(), whole.get(), nullptr, out); });
  const std::vector<double> x = waves(a.rows);
  const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
  for (const std::int64_t length : lengths) EXPECT_NEAR(static_cast<double>(length), a.rows / 4.0, 0.2 * a.rows / 4);
  const Vector in = part_of(rank, lengths, x, 0), out = part_of(rank, lengths, {}, 0);
  ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), in.get(), nullptr, out.get()), SXT_OK) << rank.error();
  const std::vector<double> here = values_of(out), expected = a.times(x);
  for (std::size_t i = 0; i < here.size(); ++i) EXPECT_NEAR(here[i], expected[i], 1e-12);
}

TEST(WorldMatrices, RowsArePlannedByRates) {
  const Rank rank(nullptr, 4);
  std::vector<std::int64_t> begin(5, -1);
  ASSERT_EQ(sxt_rows_plan(rank.world.get(), 400, begin.data()), SXT_OK);
  EXPECT_EQ(begin, (std::vector<std::int64_t>{0, 100, 200, 300, 400}));
  ASSERT_EQ(sxt_rows_plan(rank.world.get(), 0, begin.data()), SXT_OK);
  EXPECT_EQ(begin, (std::vector<std::int64_t>{0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace world_test
