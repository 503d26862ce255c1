// SPDX-License-Identifier: BSD-3-Clause
#include "peer.hpp"

#include <cholmod.h>

#include <algorithm>
#include <stdexcept>

namespace bench_cholesky {

struct Peer::Data {
  cholmod_common common{};
  cholmod_sparse *a = nullptr;
  cholmod_factor *l = nullptr;
  cholmod_dense *x = nullptr, *y = nullptr, *e = nullptr;
};

// Rows of a lower triangle are columns of the upper one.
Peer::Peer(const Problem &a) : data_(std::make_unique<Data>()) {
  Data &d = *data_;
  cholmod_start(&d.common);
  d.common.nmethods = 1;
  d.common.method[0].ordering = CHOLMOD_METIS;
  d.a = cholmod_allocate_sparse(a.n, a.n, a.col.size(), 1, 1, 1, CHOLMOD_REAL, &d.common);
  std::copy(a.row_ptr.begin(), a.row_ptr.end(), static_cast<int *>(d.a->p));
  std::copy(a.col.begin(), a.col.end(), static_cast<int *>(d.a->i));
  std::copy(a.values.begin(), a.values.end(), static_cast<double *>(d.a->x));
  d.l = cholmod_analyze(d.a, &d.common);
  if (!d.l) throw std::runtime_error("CHOLMOD did not analyse it");
}

Peer::~Peer() {
  Data &d = *data_;
  for (cholmod_dense **each : {&d.x, &d.y, &d.e}) cholmod_free_dense(each, &d.common);
  cholmod_free_factor(&d.l, &d.common);
  cholmod_free_sparse(&d.a, &d.common);
  cholmod_finish(&d.common);
}

std::vector<std::int32_t> Peer::order() const {
  const int *perm = static_cast<const int *>(data_->l->Perm);
  return {perm, perm + data_->l->n};
}
bool Peer::supernodal() const { return data_->l->is_super != 0; }

void Peer::factor() {
  if (!cholmod_factorize(data_->a, data_->l, &data_->common) || data_->common.status != CHOLMOD_OK)
    throw std::runtime_error("CHOLMOD did not factor it");
}

void Peer::solve(const std::vector<double> &b, std::int64_t columns, std::vector<double> &x) {
  Data &d = *data_;
  cholmod_dense right{};
  right.nrow = right.d = d.l->n, right.ncol = static_cast<std::size_t>(columns), right.nzmax = right.nrow * right.ncol;
  right.x = const_cast<double *>(b.data());
  right.xtype = CHOLMOD_REAL, right.dtype = CHOLMOD_DOUBLE;
  if (!cholmod_solve2(CHOLMOD_A, d.l, &right, nullptr, &d.x, nullptr, &d.y, &d.e, &d.common))
    throw std::runtime_error("CHOLMOD did not solve it");
  const double *from = static_cast<const double *>(d.x->x);
  x.assign(from, from + right.nzmax);
}

}  // namespace bench_cholesky
