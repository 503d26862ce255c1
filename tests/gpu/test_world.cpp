// SPDX-License-Identifier: BSD-3-Clause
// Worlds whose members are GPUs: every call against one CPU context, with two members on one GPU, two GPUs, GPUs beside
// the CPU, and ranks of a GPU each; every way of exchange; faults. Sets with a second GPU are skipped where there is
// none.
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/gpu/world.hpp"

namespace {

using namespace world_test;
using namespace gpu_world_test;
using testing::HasSubstr;
using testing::Not;

class WorldOfGpus : public testing::Test {
 protected:
  void SetUp() override {
    if (!member_on(0)) GTEST_SKIP() << "no GPU: " << sxt_last_error(nullptr);
    sets_ = {{0, 0}, {0, cpu}, {cpu, 0, cpu}, {0, 0, 0}};
    if (!member_on(1)) return;
    for (const Members &more : {Members{0, 1}, {1, 0}, {0, 1, 0, 1}, {0, cpu, 1}}) sets_.push_back(more);
  }
  std::vector<Members> sets_;
};

std::vector<Csr> matrices() {
  Csr empty_rows;
  empty_rows.rows = empty_rows.cols = 1300;
  for (int i = 0; i < 1300; ++i) {
    if (i % 4 == 1) empty_rows.entry(1299 - i, i);
    empty_rows.end_row();
  }
  return {api_test::laplacian(70), api_test::shuffled(api_test::laplacian(60)), api_test::laplacian(2), empty_rows};
}

TEST_F(WorldOfGpus, ProductsAreThoseOfOneContext) {
  for (const Members &members : sets_)
    for (const Csr &a : matrices()) {
      const Rank rank(nullptr, members_on(members));
      ASSERT_TRUE(rank.world) << name_of(members) << ": " << rank.error();
      const Matrix matrix = rows_matrix(rank, a, {0, a.rows});
      ASSERT_TRUE(matrix) << name_of(members);
      const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
      const std::vector<double> x = waves(a.rows), y = waves(a.rows, 1), plain = a.times(x);
      const Vector in = part_of(rank, lengths, x, 0), out = part_of(rank, lengths, y, 0);
      const double alpha = -1.5, beta = 0.25;
      for (int again = 0; again < 3; ++again) {
        ASSERT_EQ(sxt_vector_write(out.get(), y.data()), SXT_OK);
        ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, &alpha, matrix.get(), in.get(), &beta, out.get()), SXT_OK)
            << name_of(members) << ": " << rank.error();
        const std::vector<double> here = values_of(out);
        for (std::size_t i = 0; i < here.size(); ++i)
          ASSERT_NEAR(here[i], alpha * plain[i] + beta * y[i], 1e-11 * (1 + std::fabs(here[i])))
              << name_of(members) << ", row " << i << " of " << a.rows;
      }
    }
}

// The product of a product, many times in a row: what one member sends must not be overtaken by the next exchange.
TEST_F(WorldOfGpus, ProductsInARowDoNotOvertakeEachOther) {
  const Csr a = api_test::laplacian(90);
  for (const Members &members : sets_) {
    const Rank rank(nullptr, members_on(members));
    const Matrix matrix = rows_matrix(rank, a, {0, a.rows});
    ASSERT_TRUE(matrix);
    const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
    std::vector<double> x = waves(a.rows);
    const Vector first = part_of(rank, lengths, x, 0), second = part_of(rank, lengths, {}, 0);
    const double eighth = 0.125;
    for (int k = 0; k < 40; ++k) {
      const Vector &from = k % 2 ? second : first, &to = k % 2 ? first : second;
      ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, &eighth, matrix.get(), from.get(), nullptr, to.get()), SXT_OK)
          << rank.error();
      x = a.times(x);
      for (double &value : x) value *= eighth;
    }
    const std::vector<double> here = values_of(first);
    for (std::size_t i = 0; i < here.size(); ++i) ASSERT_NEAR(here[i], x[i], 1e-11) << name_of(members);
  }
}

TEST_F(WorldOfGpus, VectorsAndReductions) {
  const std::int64_t n = 5000;
  std::vector<double> x(n), y(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = (i * 7 + 3) % 11 - 5, y[i] = (i * 5) % 13 - 6;
  x[1700] = x[2900] = -40;
  for (const Members &members : sets_) {
    const Rank rank(nullptr, members_on(members));
    std::vector<std::int64_t> lengths(members.size(), 0);
    for (std::int64_t i = 0; i < n; ++i) ++lengths[static_cast<std::size_t>(i) % lengths.size()];
    const Vector a = part_of(rank, lengths, x, 0), b = part_of(rank, lengths, y, 0), c = part_of(rank, lengths, {}, 0);
    EXPECT_EQ(values_of(c), std::vector<double>(x.size(), 0));
    double found = 0;
    const auto expect = [&](sxt_status status, double wanted) {
      EXPECT_EQ(status, SXT_OK) << rank.error();
      EXPECT_EQ(found, wanted) << name_of(members);
    };
    expect(sxt_sum(a.get(), &found), std::accumulate(x.begin(), x.end(), 0.0));
    expect(sxt_dot(a.get(), b.get(), &found), std::inner_product(x.begin(), x.end(), y.begin(), 0.0));
    expect(sxt_amax(a.get(), &found), 40);
    expect(sxt_min(a.get(), &found), -40);
    std::int64_t at = -2;
    EXPECT_EQ(sxt_iamax(a.get(), &at), SXT_OK);
    EXPECT_EQ(at, 1700);
    const sxt_vector *const left[] = {a.get(), b.get()}, *const right[] = {b.get(), b.get()};
    std::array<double, 2> dots{};
    EXPECT_EQ(sxt_multidot(2, left, right, dots.data()), SXT_OK) << rank.error();
    EXPECT_EQ(dots[0], std::inner_product(x.begin(), x.end(), y.begin(), 0.0));
    EXPECT_EQ(dots[1], std::inner_product(y.begin(), y.end(), y.begin(), 0.0));
    const double two = 2, three = 3;
    ASSERT_EQ(sxt_waxpby(&two, a.get(), &three, b.get(), c.get()), SXT_OK) << rank.error();
    ASSERT_EQ(sxt_axpy(&two, a.get(), c.get()), SXT_OK);
    const std::vector<double> here = values_of(c);
    for (std::size_t i = 0; i < here.size(); ++i) ASSERT_EQ(here[i], 4 * x[i] + 3 * y[i]) << name_of(members);
  }
}

// Memory of the caller on each device.
TEST_F(WorldOfGpus, WrapTheCallersMemory) {
  for (const Members &members : sets_) {
    const Rank rank(nullptr, members_on(members));
    std::vector<Vector> owners;
    std::vector<void *> data;
    std::vector<sxt_space> spaces;
    const std::vector<std::int64_t> lengths(members.size(), 100);
    for (std::size_t i = 0; i < members.size(); ++i) {
      owners.push_back(api_test::make<Vector>(
          [&](sxt_vector **out) { return sxt_vector_create(rank.contexts[i].get(), 100, SXT_F64, out); }));
      data.push_back(sxt_vector_data(owners.back().get()));
      spaces.push_back(members[i] == cpu ? SXT_SPACE_HOST : SXT_SPACE_DEVICE);
    }
    sxt_vector *made = nullptr;
    ASSERT_EQ(sxt_world_vector_wrap(rank.world.get(), lengths.data(), SXT_F64, spaces.data(), data.data(), &made),
              SXT_OK)
        << rank.error();
    const Vector wrapped(made);
    const double two = 2;
    ASSERT_EQ(sxt_fill(&two, wrapped.get()), SXT_OK) << rank.error();
    for (const Vector &owner : owners) {
      double sum = 0;
      EXPECT_EQ(sxt_sum(owner.get(), &sum), SXT_OK);
      EXPECT_EQ(sum, 200) << name_of(members);
    }
  }
}

TEST_F(WorldOfGpus, SolvesConvergeToTheTrueResidual) {
  for (const Members &members : sets_)
    for (const Csr &a :
         {api_test::laplacian(50, 0.01), api_test::badly_scaled(40), api_test::shuffled(api_test::laplacian(30, 0.05))})
      for (const char *preconditioner : {"auto", "jacobi", "block-jacobi:4", "chebyshev:5", "ssor-ai"}) {
        const Rank rank(nullptr, members_on(members));
        const Matrix matrix = rows_matrix(rank, a, {0, a.rows});
        sxt_pcg_options options = api_test::pcg_options();
        options.preconditioner = preconditioner;
        options.rtol = 1e-9;
        const std::vector<double> b = waves(a.rows);
        const Solved solved = solve_on(rank, matrix, b, options);
        EXPECT_EQ(solved.report.reason, SXT_REASON_CONVERGED) << name_of(members) << ", " << preconditioner;
        EXPECT_LE(api_test::relative_residual(a, b, solved.x), 1.0001e-9) << name_of(members) << ", " << preconditioner;
        EXPECT_THAT(solved.explained, HasSubstr("exchange."));
      }
}

// New values: whole, in every part.
TEST_F(WorldOfGpus, NewValuesAreTaken) {
  for (const Members &members : sets_) {
    Csr a = api_test::laplacian(40, 0.1);
    const Rank rank(nullptr, members_on(members));
    const Matrix matrix = rows_matrix(rank, a, {0, a.rows});
    for (double &value : a.values) value *= 3;
    ASSERT_EQ(sxt_matrix_update_values(matrix.get(), a.values.data(), static_cast<std::int64_t>(a.values.size())),
              SXT_OK)
        << rank.error();
    sxt_pcg_options options = api_test::pcg_options();
    options.rtol = 1e-9;
    const std::vector<double> b = waves(a.rows);
    const Solved solved = solve_on(rank, matrix, b, options);
    EXPECT_LE(api_test::relative_residual(a, b, solved.x), 1.0001e-9) << name_of(members);
  }
}

// A matrix of one GPU, divided; entries of any rows.
TEST_F(WorldOfGpus, SplitAndAssemble) {
  const Csr a = api_test::laplacian(33, 0.1);
  std::vector<std::int32_t> rows;
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.ptr[i]; k < a.ptr[i + 1]; ++k) rows.push_back(i);
  const std::vector<double> x = waves(a.rows), expected = a.times(x);
  for (const Members &members : sets_) {
    const Rank rank(nullptr, members_on(members));
    const Matrix whole = a.matrix(rank.contexts[0]);
    const Matrix parts[] = {api_test::make<Matrix>([&](sxt_matrix **out) {
                              return sxt_matrix_split(rank.world.get(), whole.get(), nullptr, out);
                            }),
                            api_test::make<Matrix>([&](sxt_matrix **out) {
                              return sxt_matrix_from_coo_rows(rank.world.get(), a.rows, a.cols, 0, a.rows,
                                                              static_cast<std::int64_t>(rows.size()), rows.data(),
                                                              a.col.data(), a.values.data(), nullptr, out);
                            })};
    for (const Matrix &matrix : parts) {
      ASSERT_TRUE(matrix) << rank.error();
      const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
      const Vector in = part_of(rank, lengths, x, 0), out = part_of(rank, lengths, {}, 0);
      ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), in.get(), nullptr, out.get()), SXT_OK);
      const std::vector<double> here = values_of(out);
      for (std::size_t i = 0; i < here.size(); ++i) ASSERT_NEAR(here[i], expected[i], 1e-11) << name_of(members);
    }
  }
}

template <class T>
void product_in(const Members &members, sxt_value_type type) {
  const Csr a = api_test::laplacian(45);
  const std::vector<T> values(a.values.begin(), a.values.end());
  const Rank rank(nullptr, members_on(members));
  sxt_matrix_options options = api_test::matrix_options();
  options.value_type = type;
  sxt_matrix *made = nullptr;
  ASSERT_EQ(sxt_matrix_from_csr_rows(rank.world.get(), a.rows, a.cols, 0, a.rows, a.ptr.data(), a.col.data(),
                                     values.data(), &options, &made),
            SXT_OK)
      << rank.error();
  const Matrix matrix(made);
  const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
  const auto vector = [&] {
    return api_test::make<Vector>(
        [&](sxt_vector **out) { return sxt_world_vector_create(rank.world.get(), lengths.data(), type, out); });
  };
  const Vector x = vector(), y = vector();
  std::vector<double> whole(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<double>(i % 9) - 4;
  const std::vector<T> in(whole.begin(), whole.end());
  std::vector<T> out(in.size());
  ASSERT_EQ(sxt_vector_write(x.get(), in.data()), SXT_OK);
  ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.get(), nullptr, y.get()), SXT_OK) << rank.error();
  ASSERT_EQ(sxt_vector_read(y.get(), out.data()), SXT_OK);
  const std::vector<double> expected = a.times(whole);
  for (std::size_t i = 0; i < out.size(); ++i)
    ASSERT_EQ(out[i], T(static_cast<float>(expected[i]))) << name_of(members);
}

TEST_F(WorldOfGpus, EveryTypeOfValues) {
  for (const Members &members : sets_) {
    product_in<float>(members, SXT_F32);
    product_in<std::complex<float>>(members, SXT_C64);
    product_in<std::complex<double>>(members, SXT_C128);
  }
}

// Equal members give equal bits.
TEST_F(WorldOfGpus, DeterministicWorldsRepeatTheirBits) {
  const Csr a = api_test::laplacian(64, 0.02);
  for (const Members &members : sets_) {
    const auto solve = [&] {
      const Rank rank(nullptr, members_on(members, true));
      return solve_on(rank, rows_matrix(rank, a, {0, a.rows}), waves(a.rows), api_test::pcg_options()).x;
    };
    const std::vector<double> first = solve();
    EXPECT_EQ(solve(), first) << name_of(members);
  }
}

// The same bits by whichever way values go; the way that was forced is told.
TEST_F(WorldOfGpus, EveryWayOfExchangeGivesTheSameBits) {
  const Csr a = api_test::shuffled(api_test::laplacian(48, 0.05));
  const std::vector<double> b = waves(a.rows);
  for (const Members &members : sets_) {
    std::vector<double> first;
    for (const char *way : {"exchange.staged.cuda", "exchange.copy.cuda", "exchange.peer.cuda"}) {
      const Rank rank(nullptr, members_on(members, true));
      bool applies = true;
      for (std::size_t i = 0; i < members.size(); ++i) {
        if (members[i] == cpu) applies = applies && std::string(way) == "exchange.staged.cuda";
        if (members[i] != cpu) {
          ASSERT_EQ(sxt_context_force(rank.contexts[i].get(), "sxt.exchange/1", way), SXT_OK) << rank.error();
        }
      }
      if (!applies) continue;  // values for the CPU go through the host
      const Matrix matrix = rows_matrix(rank, a, {0, a.rows});
      ASSERT_TRUE(matrix) << name_of(members) << ", " << way;
      const Solved solved = solve_on(rank, matrix, b, api_test::pcg_options());
      EXPECT_THAT(solved.explained, HasSubstr(way)) << name_of(members);
      if (first.empty()) first = solved.x;
      EXPECT_EQ(solved.x, first) << name_of(members) << ", " << way;
    }
  }
}

// Ranks of one GPU each, as threads.
TEST_F(WorldOfGpus, RanksWithAGpuEach) {
  const Csr a = api_test::laplacian(40, 0.02);
  const std::vector<double> b = waves(a.rows);
  const bool two = static_cast<bool>(member_on(1));
  for (const int ranks : {2, 3}) {
    const Comms comms = new_comms(ranks);
    std::vector<double> x(b.size());
    on_ranks(ranks, [&](int r) {
      const sxt_comm comm = comm_of(comms, r);
      const Rank rank(&comm, members_on(r == 2 ? Members{0, cpu} : Members{two ? r : 0}));
      ASSERT_TRUE(rank.world) << rank.error();
      const Rows rows = rows_of(shares(a.rows, ranks), r);
      const Matrix matrix = rows_matrix(rank, a, rows);
      ASSERT_TRUE(matrix);
      const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
      sxt_pcg_options options = api_test::pcg_options();
      options.rtol = 1e-9;
      sxt_pcg *made = nullptr;
      ASSERT_EQ(sxt_pcg_create(matrix.get(), &options, &made), SXT_OK) << rank.error();
      const Pcg pcg(made);
      const Vector rhs = part_of(rank, lengths, b, rows.begin), out = part_of(rank, lengths, {}, 0);
      sxt_pcg_report report = api_test::new_report();
      ASSERT_EQ(sxt_pcg_solve(pcg.get(), rhs.get(), out.get(), nullptr, &report), SXT_OK) << rank.error();
      EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
      EXPECT_THAT(api_test::explain(pcg), HasSubstr("exchange.staged.cuda"));
      const std::vector<double> here = values_of(out);
      std::copy(here.begin(), here.end(), x.begin() + rows.begin);
    });
    EXPECT_LE(api_test::relative_residual(a, b, x), 1.0001e-9) << ranks << " ranks";
  }
}

// A rank that stops answering: the others end in time, and everything of theirs can be destroyed.
TEST_F(WorldOfGpus, ARankThatDiesEndsTheOthers) {
  const Csr a = api_test::laplacian(40, 0.02);
  const Comms comms = new_comms(2);
  on_ranks(2, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, members_on({0}), 1);
    const Rows rows = rows_of(shares(a.rows, 2), r);
    const Matrix matrix = rows_matrix(rank, a, rows);
    ASSERT_TRUE(matrix);
    if (r == 1) return;
    const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
    const Vector x = part_of(rank, lengths, waves(a.rows), 0), y = part_of(rank, lengths, {}, 0);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.get(), nullptr, y.get()), SXT_E_COMM);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
    EXPECT_THAT(rank.error(), HasSubstr("time limit"));
  });
}

// Work of the caller before and after, on a stream of each member.
TEST_F(WorldOfGpus, ProductsOnTheCallersStreams) {
  const Csr a = api_test::laplacian(50);
  for (const Members &members : sets_) {
    const Rank rank(nullptr, members_on(members));
    std::vector<void *> streams(members.size(), nullptr);
    for (std::size_t i = 0; i < members.size(); ++i) {
      sextant::Device &device = rank.contexts[i]->context->device();
      if (members[i] == cpu) continue;
      ASSERT_EQ(device.ops().stream_create(device.handle(), &streams[i]), SXT_OK);
      ASSERT_EQ(sxt_context_set_stream(rank.contexts[i].get(), streams[i]), SXT_OK);
    }
    const Matrix matrix = rows_matrix(rank, a, {0, a.rows});
    const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
    const std::vector<double> x = waves(a.rows), expected = a.times(a.times(x));
    const Vector in = part_of(rank, lengths, x, 0), middle = part_of(rank, lengths, {}, 0),
                 out = part_of(rank, lengths, {}, 0);
    ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), in.get(), nullptr, middle.get()), SXT_OK)
        << rank.error();
    ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), middle.get(), nullptr, out.get()), SXT_OK)
        << rank.error();
    const std::vector<double> here = values_of(out);
    for (std::size_t i = 0; i < here.size(); ++i) ASSERT_NEAR(here[i], expected[i], 1e-10) << name_of(members);
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i] == cpu) continue;
      sextant::Device &device = rank.contexts[i]->context->device();
      ASSERT_EQ(sxt_context_set_stream(rank.contexts[i].get(), nullptr), SXT_OK);
      device.ops().stream_destroy(device.handle(), streams[i]);
    }
  }
}

}  // namespace
