// SPDX-License-Identifier: BSD-3-Clause
#include "peer.hpp"

#include <algorithm>

#include "tools/peers/cholmod/system.hpp"

namespace bench_cholesky {

struct Peer::Data : cholmod_peer::System {};

Peer::Peer(const Problem &a) : data_(std::make_unique<Data>()) {
  Data &d = *data_;
  d.common.nmethods = 1;
  d.common.method[0].ordering = CHOLMOD_METIS;
  d.allocate(static_cast<std::size_t>(a.n), a.col.size());
  std::copy(a.row_ptr.begin(), a.row_ptr.end(), d.begins());
  std::copy(a.col.begin(), a.col.end(), d.rows());
  std::copy(a.values.begin(), a.values.end(), d.values());
  d.analyse();
}

Peer::~Peer() = default;

std::vector<std::int32_t> Peer::order() const {
  const int *perm = static_cast<const int *>(data_->l->Perm);
  return {perm, perm + data_->l->n};
}
bool Peer::supernodal() const { return data_->l->is_super != 0; }
void Peer::factor() { data_->factor(); }
void Peer::solve(const std::vector<double> &b, std::int64_t columns, std::vector<double> &x) {
  const double *const from = data_->solve(b.data(), static_cast<std::size_t>(columns));
  x.assign(from, from + data_->l->n * static_cast<std::size_t>(columns));
}

}  // namespace bench_cholesky
