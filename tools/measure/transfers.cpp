// SPDX-License-Identifier: BSD-3-Clause
// How fast arrays of ordinary host memory become a matrix on a device, and new values are copied, compared with copies
// within host memory by several threads. usage: gpu_transfers [DEVICE [SIDE]]; 27-point grids of SIDE^3 rows.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "sextant/sextant.h"

namespace {

constexpr int rounds = 3, updates = 3;

template <class F>
double seconds(F &&f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Grid {
  explicit Grid(std::int64_t side) : rows(side * side * side) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t x = i % side, y = i / side % side, z = i / side / side;
      const auto around = [&](std::int64_t at, auto &&f) {
        for (std::int64_t k = std::max<std::int64_t>(at - 1, 0); k <= std::min(at + 1, side - 1); ++k) f(k);
      };
      around(z, [&](std::int64_t w) {
        around(y, [&](std::int64_t v) {
          around(x, [&](std::int64_t u) {
            const std::int64_t j = (w * side + v) * side + u;
            col.push_back(static_cast<std::int32_t>(j));
            values.push_back(i == j ? 26.5 + static_cast<double>(i % 13) * 1e-3
                                    : -1 - static_cast<double>((i + j) % 7) * 1e-3);
          });
        });
      });
      ptr.push_back(static_cast<std::int32_t>(col.size()));
    }
  }
  std::int64_t rows;
  std::vector<std::int32_t> ptr{0}, col;
  std::vector<double> values;
};

void copies_of_the_host(const std::vector<double> &from) {
  std::vector<double> to(from.size());
  for (const std::size_t team : {1, 4, 8, 16}) {
    double best = 1e9;
    for (int round = 0; round < 5; ++round)
      best = std::min(best, seconds([&] {
                        std::vector<std::thread> threads;
                        for (std::size_t t = 0; t < team; ++t)
                          threads.emplace_back([&, t] {
                            const std::size_t begin = from.size() * t / team, end = from.size() * (t + 1) / team;
                            std::memcpy(&to[begin], &from[begin], (end - begin) * sizeof(double));
                          });
                        for (std::thread &each : threads) each.join();
                      }));
    std::printf("memcpy by %2zu threads: %.1f GB/s\n", team, static_cast<double>(from.size()) * 8e-9 / best);
  }
}

void check(sxt_status status, const sxt_context *context) {
  if (status == SXT_OK) return;
  std::fprintf(stderr, "gpu_transfers: %s\n", sxt_last_error(context));
  std::exit(1);
}

void measure(sxt_context *context, const Grid &grid) {
  const auto nnz = static_cast<std::int64_t>(grid.values.size());
  const double value_bytes = 8 * static_cast<double>(nnz),
               bytes = value_bytes * 1.5 + 4 * static_cast<double>(grid.rows);
  sxt_matrix *matrix = nullptr;
  sxt_vector *x = nullptr, *y = nullptr;
  const double made = seconds([&] {
    check(sxt_matrix_from_csr(context, grid.rows, grid.rows, grid.ptr.data(), grid.col.data(), grid.values.data(),
                              nullptr, &matrix),
          context);
  });
  check(sxt_vector_create(context, grid.rows, SXT_F64, &x), context);
  check(sxt_vector_create(context, grid.rows, SXT_F64, &y), context);
  const auto multiply = [&] {
    check(sxt_spmv(SXT_NO_TRANSPOSE, nullptr, matrix, x, nullptr, y), context);
    check(sxt_context_synchronize(context), context);
  };
  const double first = seconds(multiply), later = seconds(multiply);
  std::printf("from_csr %.1f ms (%.1f GB/s), first product %.1f ms (%.1f GB/s), later %.2f ms\n", 1e3 * made,
              bytes * 1e-9 / made, 1e3 * first, bytes * 1e-9 / first, 1e3 * later);
  for (int k = 0; k < updates; ++k) {
    const double update = seconds([&] {
      check(sxt_matrix_update_values(matrix, grid.values.data(), nnz), context);
      multiply();
    });
    std::printf("  update and product %.1f ms (%.1f GB/s without the product)\n", 1e3 * update,
                value_bytes * 1e-9 / (update - later));
  }
  sxt_vector_destroy(x);
  sxt_vector_destroy(y);
  sxt_matrix_destroy(matrix);
}

}  // namespace

int main(int count, char **words) {
  const Grid grid(count > 2 ? std::max(std::atoll(words[2]), 1LL) : 110);
  copies_of_the_host(grid.values);
  sxt_context_options options;
  sxt_context_options_init(&options, sizeof options);
  options.device = count > 1 ? words[1] : "cuda";
  sxt_context *context = nullptr;
  check(sxt_context_create(&options, &context), nullptr);
  for (int round = 0; round < rounds; ++round) measure(context, grid);
  sxt_context_destroy(context);
}
