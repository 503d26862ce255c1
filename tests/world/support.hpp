// SPDX-License-Identifier: BSD-3-Clause
// Ranks as threads of the test: each has its context and its world, and does the same.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sextant/world.h"
#include "tests/api/support.hpp"

namespace world_test {

using api_test::Context;
using api_test::Csr;
using api_test::Matrix;
using api_test::Pcg;
using api_test::Vector;
using Comms = std::unique_ptr<sxt_comm_threads, api_test::Destroy<sxt_comm_threads, sxt_comm_threads_destroy>>;
using World = std::unique_ptr<sxt_world, api_test::Destroy<sxt_world, sxt_world_destroy>>;

inline sxt_comm comm_of(const Comms &all, int rank) {
  sxt_comm comm{};
  comm.struct_size = sizeof comm;
  EXPECT_EQ(sxt_comm_threads_get(all.get(), rank, &comm), SXT_OK);
  return comm;
}

inline Comms new_comms(int ranks) {
  return api_test::make<Comms>([&](sxt_comm_threads **out) { return sxt_comm_threads_create(ranks, out); });
}

// f(rank), each in a thread of its own.
inline void on_ranks(int ranks, const std::function<void(int)> &f) {
  std::vector<std::thread> threads;
  for (int rank = 1; rank < ranks; ++rank) threads.emplace_back(f, rank);
  f(0);
  for (std::thread &thread : threads) thread.join();
}

inline std::vector<Context> on_the_cpu(int members, bool deterministic) {
  std::vector<Context> out;
  for (int i = 0; i < members; ++i) out.push_back(api_test::cpu(1, deterministic));
  return out;
}

// All members are used, whatever would end sooner.
inline sxt_pcg_options by_host() {
  sxt_pcg_options options = api_test::pcg_options();
  options.engine = "world.by-host";
  return options;
}

// What a rank has: contexts, and the world that they are members of.
struct Rank {
  Rank(const sxt_comm *comm, int members, double time_limit = 30, bool deterministic = false)
      : Rank(comm, on_the_cpu(members, deterministic), time_limit) {}
  // Of any devices.
  Rank(const sxt_comm *comm, std::vector<Context> members, double time_limit = 30) : contexts(std::move(members)) {
    std::vector<sxt_context *> handles;
    for (const Context &context : contexts) handles.push_back(context.get());
    sxt_world_options options;
    sxt_world_options_init(&options, sizeof options);
    options.time_limit = time_limit;
    sxt_world *made = nullptr;
    status = sxt_world_create(static_cast<int32_t>(handles.size()), handles.data(), comm, &options, &made);
    world.reset(made);
    info.struct_size = sizeof info;
    if (made) {
      EXPECT_EQ(sxt_world_get_info(made, &info), SXT_OK);
    }
  }
  std::string error() const { return sxt_last_error(contexts[0].get()); }
  std::vector<Context> contexts;
  World world;
  sxt_world_info info{};
  sxt_status status = SXT_OK;
};

// The rows of each rank, one after the other; counts: of each.
struct Rows {
  std::int64_t begin = 0, count = 0;
};
inline Rows rows_of(const std::vector<std::int64_t> &counts, int rank) {
  Rows out;
  for (int r = 0; r < rank; ++r) out.begin += counts[static_cast<std::size_t>(r)];
  out.count = counts[static_cast<std::size_t>(rank)];
  return out;
}
// As equal as they can be.
inline std::vector<std::int64_t> shares(std::int64_t rows, int ranks) {
  std::vector<std::int64_t> out;
  for (int r = 0; r < ranks; ++r) out.push_back(rows * (r + 1) / ranks - rows * r / ranks);
  return out;
}

// Some rows of a matrix: pointers that begin at 0.
struct Piece {
  Piece(const Csr &a, Rows rows) {
    const std::int32_t first = a.ptr[static_cast<std::size_t>(rows.begin)];
    for (std::int64_t i = 0; i <= rows.count; ++i)
      ptr.push_back(a.ptr[static_cast<std::size_t>(rows.begin + i)] - first);
    const auto last = a.ptr[static_cast<std::size_t>(rows.begin + rows.count)];
    col.assign(a.col.begin() + first, a.col.begin() + last);
    values.assign(a.values.begin() + first, a.values.begin() + last);
  }
  std::vector<std::int32_t> ptr, col;
  std::vector<double> values;
};

inline sxt_status rows_into(sxt_world *world, const Csr &a, Rows rows, sxt_matrix **out,
                            const sxt_matrix_options *options = nullptr) {
  const Piece piece(a, rows);
  return sxt_matrix_from_csr_rows(world, a.rows, a.cols, rows.begin, rows.count, piece.ptr.data(), piece.col.data(),
                                  piece.values.data(), options, out);
}
inline Matrix rows_matrix(const Rank &rank, const Csr &a, Rows rows) {
  Matrix out;
  sxt_matrix *made = nullptr;
  EXPECT_EQ(rows_into(rank.world.get(), a, rows, &made), SXT_OK) << rank.error();
  out.reset(made);
  return out;
}

// Lengths of this rank's members as a matrix has them.
inline std::vector<std::int64_t> lengths_of(const Rank &rank, const Matrix &matrix) {
  std::vector<std::int64_t> begin(static_cast<std::size_t>(rank.info.members) + 1), out;
  EXPECT_EQ(sxt_matrix_rows(matrix.get(), begin.data()), SXT_OK);
  for (int i = 0; i < rank.info.own; ++i) {
    const auto m = static_cast<std::size_t>(rank.info.first_member + i);
    out.push_back(begin[m + 1] - begin[m]);
  }
  return out;
}

// This rank's values of a whole vector.
inline Vector part_of(const Rank &rank, const std::vector<std::int64_t> &lengths, const std::vector<double> &whole,
                      std::int64_t begin) {
  Vector out = api_test::make<Vector>(
      [&](sxt_vector **made) { return sxt_world_vector_create(rank.world.get(), lengths.data(), SXT_F64, made); });
  if (out && !whole.empty()) {
    EXPECT_EQ(sxt_vector_write(out.get(), whole.data() + begin), SXT_OK) << rank.error();
  }
  return out;
}
inline std::vector<double> values_of(const Vector &vector) {
  std::vector<double> out(static_cast<std::size_t>(sxt_vector_length(vector.get())));
  EXPECT_EQ(sxt_vector_read(vector.get(), out.data()), SXT_OK);
  return out;
}

inline std::vector<double> waves(std::int64_t n, double shift = 0) {
  std::vector<double> out(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = 1 + std::sin(0.37 * static_cast<double>(i) + shift);
  return out;
}

// Everything from a matrix to a solve; the first status that is none of success.
inline sxt_status whole_program(const Rank &rank, const Csr &a, int ranks, std::string *sentence) {
  sxt_status status = rank.status;
  const auto step = [&](sxt_status next) {
    if (status == SXT_OK) status = next;
    return status == SXT_OK;
  };
  const auto run = [&] {
    if (!rank.world) return;
    const Rows rows = rows_of(shares(a.rows, ranks), rank.info.rank);
    sxt_matrix *made = nullptr;
    if (!step(rows_into(rank.world.get(), a, rows, &made))) return;
    const Matrix matrix(made);
    sxt_pcg *solver = nullptr;
    if (!step(sxt_pcg_create(made, nullptr, &solver))) return;
    const Pcg pcg(solver);
    sxt_vector *vectors[2] = {};
    for (sxt_vector *&each : vectors)
      while (sxt_world_vector_create(rank.world.get(), &rows.count, SXT_F64, &each) == SXT_E_MEMORY) {
      }
    const Vector b(vectors[0]), x(vectors[1]);
    EXPECT_EQ(sxt_vector_write(b.get(), waves(a.rows).data() + rows.begin), SXT_OK);
    double found = 0;
    if (!step(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, made, b.get(), nullptr, x.get()))) return;
    if (!step(sxt_dot(b.get(), x.get(), &found))) return;
    sxt_solve_options options = api_test::solve_options();
    options.max_iterations = 4;
    const sxt_status solved = sxt_pcg_solve(solver, b.get(), x.get(), &options, nullptr);
    step(solved == SXT_NOT_CONVERGED ? SXT_OK : solved);
  };
  run();
  *sentence = rank.error();
  if (status == SXT_E_COMM && rank.world) {  // ended: at once from now on
    const Vector x = part_of(rank, {1}, {1}, 0);
    double found = 0;
    EXPECT_EQ(sxt_sum(x.get(), &found), SXT_E_COMM);
    EXPECT_THAT(rank.error(), testing::HasSubstr("has ended earlier"));
    sxt_world_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(sxt_world_get_info(rank.world.get(), &info), SXT_OK);
    EXPECT_EQ(info.ended, 1);
  }
  return status;
}

}  // namespace world_test
