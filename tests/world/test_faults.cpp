// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong between ranks: rows that do not fit, ranks in different calls, objects that are unlike, a
// communicator whose k-th call fails or stalls, a rank that dies. Every wait ends, and all ranks answer the same.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support.hpp"

namespace world_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

// The same call on every rank: its status and sentence.
void all_refuse(const std::vector<Rows> &given, sxt_status status, const std::string &says,
                const std::function<sxt_status(sxt_world *, Rows, int, sxt_matrix **)> &make) {
  const int ranks = static_cast<int>(given.size());
  const Comms comms = new_comms(ranks);
  on_ranks(ranks, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, 1);
    sxt_matrix *matrix = nullptr;
    EXPECT_EQ(make(rank.world.get(), given[static_cast<std::size_t>(r)], r, &matrix), status);
    EXPECT_EQ(matrix, nullptr);
    EXPECT_THAT(rank.error(), HasSubstr(says));
    // The world serves on.
    const Csr good = api_test::laplacian(6);
    const Matrix after = rows_matrix(rank, good, rows_of(shares(36, ranks), r));
    EXPECT_TRUE(after);
  });
}

sxt_status of_laplacian(sxt_world *world, Rows rows, int, sxt_matrix **out) {
  static const Csr a = api_test::laplacian(6);
  return rows_into(world, a, rows, out);
}

TEST(WorldFaults, RowsThatOverlapOrAreMissing) {
  all_refuse({{0, 20}, {18, 18}}, SXT_E_DIMENSION, "rank 1 brings rows from 18, but rows up to 19", of_laplacian);
  all_refuse({{0, 18}, {20, 16}}, SXT_E_DIMENSION, "no rank brings rows 18 to 19", of_laplacian);
  all_refuse({{0, 10}, {10, 10}, {20, 10}}, SXT_E_DIMENSION, "no rank brings rows 30 to 35", of_laplacian);
  all_refuse({{18, 18}, {0, 18}}, SXT_E_DIMENSION, "no rank brings rows 0 to 17", of_laplacian);
}

// Refused by the numbers alone: the arrays are shorter than these say.
TEST(WorldFaults, RowsThatAreNoneAreRefusedBeforeArraysAreRead) {
  const Rank one(nullptr, 1);
  const std::vector<std::int32_t> row_ptr(11, 0);
  const double value = 1;
  const sxt_matrix_options options = api_test::matrix_options();
  sxt_matrix *made = nullptr;
  for (const std::int64_t count : {std::int64_t{1} << 40, std::int64_t{-1}}) {
    EXPECT_EQ(sxt_matrix_from_csr_rows(one.world.get(), 10, 10, 0, count, row_ptr.data(), row_ptr.data(), &value,
                                       &options, &made),
              SXT_E_DIMENSION);
    EXPECT_EQ(made, nullptr);
  }
}

TEST(WorldFaults, RanksThatDisagreeOnSizesOrTypes) {
  const auto with = [](auto &&change) {
    return [change](sxt_world *world, Rows rows, int rank, sxt_matrix **out) {
      Csr a = api_test::laplacian(6);
      sxt_matrix_options options = api_test::matrix_options();
      if (rank == 1) change(a, options);
      return rows_into(world, a, rows, out, &options);
    };
  };
  const std::vector<Rows> halves{{0, 18}, {18, 18}};
  all_refuse(halves, SXT_E_DIMENSION, "ranks disagree on the number of rows",
             with([](Csr &a, sxt_matrix_options &) { a.rows = a.cols = 40; }));
  all_refuse(halves, SXT_E_ARGUMENT, "ranks disagree on the symmetry",
             with([](Csr &, sxt_matrix_options &options) { options.symmetry = SXT_SYMMETRIC; }));
  all_refuse(halves, SXT_E_INDEX, "column", with([](Csr &a, sxt_matrix_options &) { a.col.back() = 77; }));
  all_refuse(halves, SXT_E_NOT_SUPPORTED, "triangle", with([](Csr &, sxt_matrix_options &options) {
               options.symmetry = SXT_SYMMETRIC, options.triangle = SXT_LOWER;
             }));
  all_refuse(halves, SXT_E_ARGUMENT, "index_base", with([](Csr &, sxt_matrix_options &o) { o.index_base = 3; }));
}

TEST(WorldFaults, RanksInDifferentCalls) {
  const Comms comms = new_comms(2);
  on_ranks(2, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, 1);
    const Vector x = part_of(rank, {4}, {1, 2, 3, 4}, 0);
    double found = 0;
    EXPECT_EQ(r == 0 ? sxt_sum(x.get(), &found) : sxt_nrm2(x.get(), &found), SXT_E_STATE);
    EXPECT_THAT(rank.error(), HasSubstr("rank 0 is in sxt_sum, rank 1 in sxt_nrm2"));
    EXPECT_EQ(sxt_sum(x.get(), &found), SXT_OK) << "nothing is left of it";
    EXPECT_EQ(found, 20);
  });
}

// Other worlds, contexts beside worlds, parts of other lengths, calls that worlds do not have.
TEST(WorldFaults, UnlikeObjectsAreRefused) {
  const Rank one(nullptr, 2), other(nullptr, 2);
  const Csr a = api_test::laplacian(6);
  const Matrix matrix = rows_matrix(one, a, {0, 36}), plain = a.matrix(one.contexts[0]);
  const std::vector<std::int64_t> lengths = lengths_of(one, matrix);
  const Vector x = part_of(one, lengths, {}, 0), y = part_of(one, lengths, {}, 0),
               foreign = part_of(other, lengths, {}, 0),
               shifted = part_of(one, {lengths[0] + 1, lengths[1] - 1}, {}, 0);
  std::vector<double> memory(36);
  const Vector single = api_test::wrap(one.contexts[0], memory);
  double found = 0;
  const double alpha = 1;
  const auto refused = [&](sxt_status status, sxt_status expected, const char *says) {
    EXPECT_EQ(status, expected);
    EXPECT_THAT(one.error(), HasSubstr(says));
  };
  const auto spmv = [](const Matrix &m, const Vector &in, const Vector &out) {
    return sxt_spmv(SXT_NO_TRANSPOSE, nullptr, m.get(), in.get(), nullptr, out.get());
  };
  refused(spmv(matrix, foreign, y), SXT_E_ARGUMENT, "another world");
  refused(spmv(matrix, single, y), SXT_E_ARGUMENT, "is of one context");
  refused(spmv(matrix, x, shifted), SXT_E_DIMENSION, "values with member 0");
  refused(spmv(matrix, x, x), SXT_E_ARGUMENT, "overlap");
  refused(spmv(plain, x, single), SXT_E_ARGUMENT, "a vector of a world");
  refused(sxt_spmv(SXT_TRANSPOSE, nullptr, matrix.get(), x.get(), nullptr, y.get()), SXT_E_NOT_SUPPORTED,
          "SXT_NO_TRANSPOSE");
  refused(sxt_dot(x.get(), foreign.get(), &found), SXT_E_ARGUMENT, "different worlds");
  refused(sxt_dot(x.get(), single.get(), &found), SXT_E_ARGUMENT, "one of a context");
  refused(sxt_dot(x.get(), shifted.get(), &found), SXT_E_DIMENSION, "this process's member 0");
  refused(sxt_axpy(&alpha, single.get(), y.get()), SXT_E_ARGUMENT, "vector of a world");
  const std::vector<std::int32_t> index{0};
  refused(sxt_gather(x.get(), index.data(), SXT_I32, y.get()), SXT_E_NOT_SUPPORTED, "belongs to a world");
  refused(sxt_spmv_array(SXT_NO_TRANSPOSE, nullptr, matrix.get(), memory.data(), nullptr, memory.data()),
          SXT_E_NOT_SUPPORTED, "belongs to a world");
  refused(sxt_matrix_get_csr(matrix.get(), nullptr, nullptr, nullptr), SXT_E_NOT_SUPPORTED, "belongs to a world");
  refused(sxt_matrix_feature(matrix.get(), "row_nnz_max", &found), SXT_E_NOT_SUPPORTED, "belongs to a world");
  sxt_analysis *analysis = nullptr;
  refused(sxt_analysis_create(matrix.get(), nullptr, &analysis), SXT_E_NOT_SUPPORTED, "belongs to a world");
  ASSERT_EQ(sxt_analysis_create(plain.get(), nullptr, &analysis), SXT_OK);
  sxt_cholesky *cholesky = nullptr;
  ASSERT_EQ(sxt_cholesky_create(analysis, &cholesky), SXT_OK);
  refused(sxt_cholesky_factor(cholesky, matrix.get(), nullptr), SXT_E_NOT_SUPPORTED, "belongs to a world");
  sxt_cholesky_destroy(cholesky);
  sxt_analysis_destroy(analysis);
  std::int64_t begin[3] = {};
  refused(sxt_matrix_rows(plain.get(), begin), SXT_E_ARGUMENT, "of one context");
  sxt_matrix *made = nullptr;
  refused(sxt_matrix_split(one.world.get(), matrix.get(), nullptr, &made), SXT_E_NOT_SUPPORTED, "belongs to a world");
  sxt_partition_options options;
  sxt_partition_options_init(&options, sizeof options);
  options.method = "contigous";
  refused(sxt_matrix_split(one.world.get(), plain.get(), &options, &made), SXT_E_UNKNOWN_NAME, "contiguous");
}

TEST(WorldFaults, WorldsThatCannotBe) {
  const Context context = api_test::cpu(1);
  sxt_context *handle = context.get();
  sxt_world *world = nullptr;
  EXPECT_EQ(sxt_world_create(0, &handle, nullptr, nullptr, &world), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_world_create(1, nullptr, nullptr, nullptr, &world), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_world_create(1, &handle, nullptr, nullptr, nullptr), SXT_E_ARGUMENT);
  sxt_world_options options;
  sxt_world_options_init(&options, sizeof options);
  options.time_limit = 0;
  EXPECT_EQ(sxt_world_create(1, &handle, nullptr, &options, &world), SXT_E_ARGUMENT);
  const Comms comms = new_comms(2);
  sxt_comm comm = comm_of(comms, 0);
  comm.rank = 2;
  EXPECT_EQ(sxt_world_create(1, &handle, &comm, nullptr, &world), SXT_E_ARGUMENT);
  EXPECT_THAT(api_test::last_error(context), HasSubstr("rank"));
  comm = comm_of(comms, 0);
  comm.wait = nullptr;
  EXPECT_EQ(sxt_world_create(1, &handle, &comm, nullptr, &world), SXT_E_ARGUMENT);
  EXPECT_THAT(api_test::last_error(context), HasSubstr("comm->wait is NULL"));
  comm = comm_of(comms, 0);
  comm.struct_size = 24;
  EXPECT_EQ(sxt_world_create(1, &handle, &comm, nullptr, &world), SXT_E_ARGUMENT);
  EXPECT_EQ(world, nullptr);
  sxt_comm_threads *threads = nullptr;
  EXPECT_EQ(sxt_comm_threads_create(0, &threads), SXT_E_ARGUMENT);
  EXPECT_EQ(sxt_comm_threads_get(comms.get(), 2, &comm), SXT_E_INDEX);
}

// A communicator between the library and another one, which counts its calls and fails, or never answers, at the k-th.
struct Faulty {
  sxt_comm inner{};
  std::atomic<int> calls{0};
  int at = 0;
  bool stalls = false;
  std::atomic<int> aborted{0};

  // SXT_OK to go on.
  sxt_status count(double seconds) {
    if (++calls != at) return SXT_OK;
    if (stalls) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    return SXT_E_COMM;
  }
  sxt_comm comm() {
    sxt_comm out = inner;
    out.user = this;
    out.gather = [](void *user, const void *mine, std::int64_t bytes, void *all, double seconds) {
      auto &self = *static_cast<Faulty *>(user);
      const sxt_status status = self.count(seconds);
      return status ? status : self.inner.gather(self.inner.user, mine, bytes, all, seconds);
    };
    out.exchange = [](void *user, std::int32_t sends, const sxt_message_part *s, std::int32_t receives,
                      const sxt_message_part *r, void **request) {
      auto &self = *static_cast<Faulty *>(user);
      const sxt_status status = self.count(0);
      return status ? status : self.inner.exchange(self.inner.user, sends, s, receives, r, request);
    };
    out.wait = [](void *user, void **request, double seconds) {
      auto &self = *static_cast<Faulty *>(user);
      const sxt_status status = self.count(seconds);
      // What the other communicator keeps for the request is freed by its wait.
      const sxt_status own = self.inner.wait(self.inner.user, request, status ? 0 : seconds);
      return status ? status : own;
    };
    out.abort = [](void *user, sxt_status status, const char *why) {
      auto &self = *static_cast<Faulty *>(user);
      ++self.aborted;
      if (!self.stalls) self.inner.abort(self.inner.user, status, why);
    };
    return out;
  }
};

// Each call of rank 1's communicator fails in turn: no rank hangs, each answers SXT_E_COMM. (A rank that had come to
// its end before is done.)
TEST(WorldFaults, EveryCallOfACommunicatorMayFail) {
  const Csr a = api_test::laplacian(7, 1);
  constexpr int ranks = 3;
  int last = 0;
  for (int at = 1; at < 200; ++at) {
    const Comms comms = new_comms(ranks);
    Faulty faulty;
    faulty.inner = comm_of(comms, 1);
    faulty.at = at;
    std::vector<sxt_status> statuses(ranks);
    const auto start = std::chrono::steady_clock::now();
    on_ranks(ranks, [&](int r) {
      const sxt_comm comm = r == 1 ? faulty.comm() : comm_of(comms, r);
      std::string sentence;
      statuses[static_cast<std::size_t>(r)] = whole_program(Rank(&comm, 1, 20), a, ranks, &sentence);
    });
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15))
        << "waited for the time limit at " << at;
    if (faulty.calls < at) break;
    last = at;
    EXPECT_EQ(statuses[1], SXT_E_COMM) << at;
    EXPECT_EQ(faulty.aborted, 1) << at;
    for (const int r : {0, 2})
      EXPECT_THAT(statuses[static_cast<std::size_t>(r)], AnyOf(SXT_E_COMM, SXT_OK)) << "rank " << r << " at " << at;
  }
  EXPECT_GT(last, 30) << "the calls of a set-up and a solve";
}

// A call that never comes back in time: the others end by their own limits.
TEST(WorldFaults, ACommunicatorThatStalls) {
  const Csr a = api_test::laplacian(7, 1);
  for (const int at : {1, 9, 25}) {
    const Comms comms = new_comms(2);
    Faulty faulty;
    faulty.inner = comm_of(comms, 1);
    faulty.at = at;
    faulty.stalls = true;
    std::vector<sxt_status> statuses(2);
    std::vector<std::string> sentences(2);
    const auto start = std::chrono::steady_clock::now();
    on_ranks(2, [&](int r) {
      const sxt_comm comm = r == 1 ? faulty.comm() : comm_of(comms, r);
      statuses[static_cast<std::size_t>(r)] =
          whole_program(Rank(&comm, 1, 0.3), a, 2, &sentences[static_cast<std::size_t>(r)]);
    });
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
    EXPECT_EQ(statuses, (std::vector<sxt_status>{SXT_E_COMM, SXT_E_COMM})) << at;
  }
}

// A rank that is gone in the middle of a program.
TEST(WorldFaults, ARankThatDies) {
  const Csr a = api_test::laplacian(7, 1);
  const Comms comms = new_comms(3);
  on_ranks(3, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, 1, 0.5);
    const Rows rows = rows_of(shares(a.rows, 3), r);
    const Matrix matrix = rows_matrix(rank, a, rows);
    if (r == 2) return;
    const Vector x = part_of(rank, {rows.count}, waves(a.rows), rows.begin), y = part_of(rank, {rows.count}, {}, 0);
    EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.get(), nullptr, y.get()), SXT_E_COMM);
    EXPECT_THAT(rank.error(), HasSubstr("time limit 0.5"));
  });
}

// Members' host memory fails on one rank: all ranks answer it.
TEST(WorldFaults, OneRankWithoutMemoryFailsAll) {
  const Csr a = api_test::laplacian(30, 1);
  const Comms comms = new_comms(2);
  on_ranks(2, [&](int r) {
    api_test::Lender lender;
    std::vector<Context> contexts;
    contexts.push_back(r == 1 ? lender.context() : api_test::cpu(1));
    sxt_context *handle = contexts[0].get();
    const sxt_comm comm = comm_of(comms, r);
    const World world =
        api_test::make<World>([&](sxt_world **out) { return sxt_world_create(1, &handle, &comm, nullptr, out); });
    if (r == 1) lender.fail_at = lender.calls + 1, lender.for_ever = true;
    sxt_matrix *matrix = nullptr;
    EXPECT_EQ(rows_into(world.get(), a, rows_of(shares(a.rows, 2), r), &matrix), SXT_E_MEMORY);
    if (r == 0) {
      EXPECT_THAT(api_test::last_error(contexts[0]), HasSubstr("rank 1"));
    }
    lender.for_ever = false, lender.fail_at = 0;
    EXPECT_EQ(rows_into(world.get(), a, rows_of(shares(a.rows, 2), r), &matrix), SXT_OK);
    sxt_matrix_destroy(matrix);
  });
}

// Whichever allocation of one rank fails, in a matrix, a product, a set-up or a solve, all ranks answer it, long before
// the time limit.
TEST(WorldFaults, AnyAllocationOfOneRankMayFail) {
  const Csr a = api_test::laplacian(7, 1);
  std::int64_t last = 0;
  for (std::int64_t at = 1; at < 400; ++at) {
    const Comms comms = new_comms(2);
    std::vector<sxt_status> statuses(2);
    std::vector<std::string> sentences(2);
    bool failed = false;
    const auto start = std::chrono::steady_clock::now();
    on_ranks(2, [&](int r) {
      api_test::Lender lender;
      std::vector<Context> contexts;
      contexts.push_back(r == 1 ? lender.context() : api_test::cpu(1));
      const sxt_comm comm = comm_of(comms, r);
      const Rank rank(&comm, std::move(contexts), 60);
      if (r == 1) lender.fail_at = lender.calls + at;
      statuses[static_cast<std::size_t>(r)] = whole_program(rank, a, 2, &sentences[static_cast<std::size_t>(r)]);
      if (r == 1) failed = lender.calls >= lender.fail_at;
    });
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40))
        << "waited for the time limit at " << at;
    EXPECT_EQ(statuses[0], statuses[1]) << at << ": " << sentences[0] << " / " << sentences[1];
    EXPECT_THAT(statuses[0], AnyOf(SXT_OK, SXT_E_MEMORY)) << at << ": " << sentences[0];
    if (!failed) break;
    if (statuses[0] == SXT_E_MEMORY) ++last;
  }
  EXPECT_GT(last, 20) << "allocations of a set-up and a solve";
}

// What only one rank got wrong is told to the others at once: before any step, and in the middle of an exchange.
TEST(WorldFaults, AMissingArgumentOfOneRankIsToldToAll) {
  const Csr a = api_test::laplacian(6, 1);
  const Comms comms = new_comms(2);
  on_ranks(2, [&](int r) {
    const sxt_comm comm = comm_of(comms, r);
    const Rank rank(&comm, 1, 60);
    const Rows rows = rows_of({18, 18}, r);
    sxt_matrix *made = nullptr;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(rows_into(rank.world.get(), a, rows, r == 1 ? nullptr : &made), SXT_E_ARGUMENT);
    EXPECT_THAT(rank.error(), HasSubstr("matrix is NULL"));
    const Matrix matrix = rows_matrix(rank, a, rows);
    sxt_pcg *pcg = nullptr;
    EXPECT_EQ(sxt_pcg_create(matrix.get(), nullptr, r == 1 ? nullptr : &pcg), SXT_E_ARGUMENT);
    EXPECT_THAT(rank.error(), HasSubstr("pcg is NULL"));
    const Vector x = part_of(rank, {18}, waves(36), rows.begin), y = part_of(rank, {18}, {}, 0);
    EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), r == 1 ? nullptr : x.get(), nullptr, y.get()),
              SXT_E_ARGUMENT);
    EXPECT_EQ(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix.get(), x.get(), nullptr, y.get()), SXT_OK) << rank.error();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40));
  });
}

// Contexts are given by each rank: what one gives wrong ends the first gather for all.
TEST(WorldFaults, AContextThatOneRankLacksIsToldToAll) {
  const Comms comms = new_comms(2);
  on_ranks(2, [&](int r) {
    const Context context = api_test::cpu(1);
    sxt_context *handles[] = {context.get(), r == 1 ? nullptr : context.get()};
    const sxt_comm comm = comm_of(comms, r);
    sxt_world *world = nullptr;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(sxt_world_create(2, handles, &comm, nullptr, &world), SXT_E_ARGUMENT);
    EXPECT_THAT(api_test::last_error(context), HasSubstr("an entry of contexts is NULL"));
    EXPECT_EQ(world, nullptr);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40));
  });
}

// Objects may be destroyed in any order.
TEST(WorldFaults, LifetimesAreFree) {
  const Csr a = api_test::laplacian(6, 1);
  Pcg pcg;
  Vector b, x;
  {
    const Rank rank(nullptr, 2);
    const Matrix matrix = rows_matrix(rank, a, {0, 36});
    const std::vector<std::int64_t> lengths = lengths_of(rank, matrix);
    pcg = api_test::make<Pcg>([&](sxt_pcg **out) { return sxt_pcg_create(matrix.get(), nullptr, out); });
    b = part_of(rank, lengths, waves(36), 0), x = part_of(rank, lengths, {}, 0);
  }
  EXPECT_EQ(sxt_pcg_solve(pcg.get(), b.get(), x.get(), nullptr, nullptr), SXT_OK);
  EXPECT_LE(api_test::relative_residual(a, waves(36), values_of(x)), 1e-8);
}

}  // namespace
}  // namespace world_test
