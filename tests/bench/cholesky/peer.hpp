// SPDX-License-Identifier: BSD-3-Clause
// CHOLMOD on one problem: its order by METIS, and its factorisation and solves with as many threads as its BLAS takes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "problems.hpp"

namespace bench_cholesky {

class Peer {
 public:
  explicit Peer(const Problem &a);
  Peer(const Peer &) = delete;
  ~Peer();
  std::vector<std::int32_t> order() const;
  bool supernodal() const;
  void factor();
  void solve(const std::vector<double> &b, std::int64_t columns, std::vector<double> &x);

 private:
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace bench_cholesky
