// SPDX-License-Identifier: BSD-3-Clause
// How a matrix is divided: by name, with rows renumbered where the method does so, and what is told of it.
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "support.hpp"

namespace world_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Divided {
  Divided(const Rank &rank, const sxt_matrix *whole, const char *method, std::int64_t rows) {
    sxt_partition_options options;
    sxt_partition_options_init(&options, sizeof options);
    options.method = method;
    sxt_matrix *made = nullptr;
    status = sxt_matrix_split(rank.world.get(), whole, &options, &made);
    matrix.reset(made);
    if (!made) return;
    order.resize(static_cast<std::size_t>(rows));
    EXPECT_EQ(sxt_matrix_order(made, order.data()), SXT_OK);
    lengths = lengths_of(rank, matrix);
  }
  std::vector<double> in_order(const std::vector<double> &whole) const {
    std::vector<double> out;
    for (const std::int64_t row : order) out.push_back(whole[static_cast<std::size_t>(row)]);
    return out;
  }
  sxt_status status = SXT_OK;
  Matrix matrix;
  std::vector<std::int64_t> order, lengths;
};

std::int64_t received(const Pcg &pcg, int members) {
  std::int64_t sum = 0;
  for (int i = 0; i < members; ++i) {
    sxt_member_report report{};
    report.struct_size = sizeof report;
    EXPECT_EQ(sxt_pcg_get_member(pcg.get(), i, &report), SXT_OK);
    sum += report.halo_received;
  }
  return sum;
}

bool lacks_metis(const Rank &rank, const Divided &divided) {
  return divided.status == SXT_E_NO_KERNEL && rank.error().find("libmetis") != std::string::npos;
}

// Products, solves and updates are those of the whole, whatever the order of the rows.
TEST(WorldPartitions, EveryMethodDividesTheSameMatrix) {
  const Csr a = api_test::shuffled(api_test::laplacian(24, 0.05));
  const Context whole_context = api_test::cpu(1);
  const Matrix whole = a.matrix(whole_context);
  const Rank rank(nullptr, 3);
  const std::vector<double> b = waves(a.rows), expected = a.times(b);
  for (const char *method : {static_cast<const char *>(nullptr), "contiguous", "rcm", "metis", "one"}) {
    const Divided divided(rank, whole.get(), method, a.rows);
    if (lacks_metis(rank, divided)) continue;
    ASSERT_EQ(divided.status, SXT_OK) << rank.error();
    std::vector<std::int64_t> sorted = divided.order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) ASSERT_EQ(sorted[i], static_cast<std::int64_t>(i));
    const Vector x = part_of(rank, divided.lengths, divided.in_order(b), 0), y = part_of(rank, divided.lengths, {}, 0);
    for (const double scale : {1.0, 2.0}) {
      if (scale != 1) {
        std::vector<double> values = a.values;
        for (double &value : values) value *= scale;
        ASSERT_EQ(sxt_matrix_update_values(divided.matrix.get(), values.data(), a.ptr.back()), SXT_OK) << rank.error();
      }
      ASSERT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, divided.matrix.get(), x.get(), nullptr, y.get()), SXT_OK);
      const std::vector<double> here = values_of(y);
      for (std::size_t k = 0; k < here.size(); ++k)
        ASSERT_NEAR(here[k], scale * expected[static_cast<std::size_t>(divided.order[k])], 1e-11);
    }
    const sxt_pcg_options options = by_host();
    const Pcg pcg =
        api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(divided.matrix.get(), &options, out); });
    sxt_pcg_report report = api_test::new_report();
    EXPECT_EQ(sxt_pcg_solve(pcg.get(), x.get(), y.get(), nullptr, &report), SXT_OK) << rank.error();
    EXPECT_EQ(report.reason, SXT_REASON_CONVERGED);
    const std::string told = api_test::explain(pcg);
    EXPECT_THAT(told, AllOf(HasSubstr(method ? std::string("partition.") + method : "partition.contiguous"),
                            HasSubstr("imbalance")));
    if (!method) {
      EXPECT_THAT(told, HasSubstr("ask for it by name"));
    }
  }
}

// Neighbours that lie together are fetched less.
TEST(WorldPartitions, RowsInNoOrderGainByAnother) {
  const Csr a = api_test::shuffled(api_test::laplacian(30, 0.05));
  const Context whole_context = api_test::cpu(1);
  const Matrix whole = a.matrix(whole_context);
  const Rank rank(nullptr, 4);
  std::int64_t halo[3] = {};
  int at = 0;
  for (const char *method : {"contiguous", "rcm", "metis"}) {
    const Divided divided(rank, whole.get(), method, a.rows);
    if (lacks_metis(rank, divided)) continue;
    const sxt_pcg_options options = by_host();
    const Pcg pcg =
        api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(divided.matrix.get(), &options, out); });
    halo[at++] = received(pcg, 4);
  }
  EXPECT_LT(5 * halo[1], halo[0]);
  EXPECT_LE(halo[2], halo[1]);
}

TEST(WorldPartitions, AllRowsGoToOneMember) {
  const Csr a = api_test::laplacian(9, 1);
  const Context whole_context = api_test::cpu(1);
  const Matrix whole = a.matrix(whole_context);
  const Rank rank(nullptr, 3);
  const Divided divided(rank, whole.get(), "one", a.rows);
  ASSERT_EQ(divided.status, SXT_OK) << rank.error();
  EXPECT_EQ(std::count(divided.lengths.begin(), divided.lengths.end(), 0), 2);
  EXPECT_EQ(std::accumulate(divided.lengths.begin(), divided.lengths.end(), std::int64_t{0}), a.rows);
}

TEST(WorldPartitions, MethodsThatAreNone) {
  const Csr a = api_test::laplacian(6, 1);
  const Context whole_context = api_test::cpu(1);
  const Matrix whole = a.matrix(whole_context);
  const Rank rank(nullptr, 2);
  EXPECT_EQ(Divided(rank, whole.get(), "metiss", a.rows).status, SXT_E_UNKNOWN_NAME);
  EXPECT_THAT(rank.error(), HasSubstr("metis"));
  EXPECT_EQ(sxt_matrix_order(whole.get(), nullptr), SXT_E_ARGUMENT);
  std::int64_t order[36];
  EXPECT_EQ(sxt_matrix_order(whole.get(), order), SXT_E_ARGUMENT);
  EXPECT_THAT(std::string(sxt_last_error(whole_context.get())), HasSubstr("in the caller's order"));
}

// Rows that a rank brings are numbered from its first.
TEST(WorldPartitions, RowsThatAreBroughtKeepTheirNumbers) {
  const Csr a = api_test::laplacian(6, 1);
  const Comms comms = new_comms(2);
  on_ranks(2, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, 1);
    const Matrix matrix = rows_matrix(rank, a, rows_of({10, 26}, r));
    std::vector<std::int64_t> order(r == 0 ? 10 : 26, -1);
    ASSERT_EQ(sxt_matrix_order(matrix.get(), order.data()), SXT_OK);
    for (std::size_t k = 0; k < order.size(); ++k)
      EXPECT_EQ(order[k], (r == 0 ? 0 : 10) + static_cast<std::int64_t>(k));
  });
}

}  // namespace
}  // namespace world_test
