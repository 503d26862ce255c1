// SPDX-License-Identifier: BSD-3-Clause
// CHOLMOD of SuiteSparse: its own choice of an order, supernodal or simplicial factorisation, and solves.
#include <cholmod.h>
#include <dlfcn.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "../library.hpp"

namespace {

// Of OpenBLAS, where that is the BLAS that CHOLMOD calls; NULL: another one, which keeps its number of threads.
using SetThreads = void (*)(int);
using GetThreads = int (*)();
SetThreads set_threads = nullptr;
GetThreads get_threads = nullptr;
std::string description;

struct System {
  cholmod_common common{};
  cholmod_sparse *a = nullptr;
  cholmod_factor *l = nullptr;
  cholmod_dense *x = nullptr, *y = nullptr, *e = nullptr;
  std::vector<std::int64_t> from;  // where the values of its triangle stand
  const double *values = nullptr;
  ~System() {
    for (cholmod_dense **each : {&x, &y, &e}) cholmod_free_dense(each, &common);
    cholmod_free_factor(&l, &common);
    cholmod_free_sparse(&a, &common);
    cholmod_finish(&common);
  }
};

// Rows of a lower triangle are columns of the upper one, which CHOLMOD reads.
int prepare(const sxt_peer_csr *a, void **state, sxt_peer_message *message) {
  auto system = std::make_unique<System>();
  cholmod_start(&system->common);
  system->common.print = 0;
  system->values = a->values;
  for (std::int32_t i = 0; i < a->rows; ++i)
    for (std::int32_t k = a->row_ptr[i]; k < a->row_ptr[i + 1]; ++k)
      if (a->col[k] <= i) system->from.push_back(k);
  system->a = cholmod_allocate_sparse(a->rows, a->rows, system->from.size(), 1, 1, 1, CHOLMOD_REAL, &system->common);
  if (!system->a) return peer::say(message, "CHOLMOD: out of memory");
  auto *const begin = static_cast<int *>(system->a->p), *const row = static_cast<int *>(system->a->i);
  int place = 0;
  for (std::int32_t i = 0; i < a->rows; ++i) {
    begin[i] = place;
    for (std::int32_t k = a->row_ptr[i]; k < a->row_ptr[i + 1]; ++k)
      if (a->col[k] <= i) row[place++] = a->col[k];
  }
  begin[a->rows] = place;
  system->l = cholmod_analyze(system->a, &system->common);
  if (!system->l) return peer::say(message, "CHOLMOD did not analyse the matrix");
  *state = system.release();
  return 0;
}

int factor(void *state) {
  System &system = *static_cast<System *>(state);
  auto *const values = static_cast<double *>(system.a->x);
  for (std::size_t k = 0; k < system.from.size(); ++k) values[k] = system.values[system.from[k]];
  return !cholmod_factorize(system.a, system.l, &system.common) || system.common.status != CHOLMOD_OK;
}

int solve(void *state, const double *b, double *x, std::int32_t n_rhs) {
  System &system = *static_cast<System *>(state);
  cholmod_dense right{};
  right.nrow = right.d = system.l->n, right.ncol = static_cast<std::size_t>(n_rhs);
  right.nzmax = right.nrow * right.ncol;
  right.x = const_cast<double *>(b);
  right.xtype = CHOLMOD_REAL, right.dtype = CHOLMOD_DOUBLE;
  if (!cholmod_solve2(CHOLMOD_A, system.l, &right, nullptr, &system.x, nullptr, &system.y, &system.e, &system.common))
    return 1;
  std::copy_n(static_cast<const double *>(system.x->x), right.nzmax, x);
  return 0;
}

int open(const char *const *, std::int32_t threads, sxt_peer_message *) {
  set_threads = reinterpret_cast<SetThreads>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  get_threads = reinterpret_cast<GetThreads>(dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  if (set_threads) set_threads(threads);
  description = std::to_string(CHOLMOD_MAIN_VERSION) + "." + std::to_string(CHOLMOD_SUB_VERSION) + "." +
                std::to_string(CHOLMOD_SUBSUB_VERSION) + (set_threads ? ", OpenBLAS" : ", another BLAS");
  return 0;
}

}  // namespace

const sxt_peer *sxt_peer_entry() {
  static sxt_peer table{};
  table.interface_version = SXT_PEER_INTERFACE;
  table.own_threads = 1;
  table.name = "cholmod";
  table.open = open;
  table.version = [] { return description.c_str(); };
  table.threads = [] { return get_threads ? get_threads() : 1; };
  table.cholesky_prepare = prepare;
  table.cholesky_factor = factor;
  table.cholesky_solve = solve;
  table.cholesky_release = [](void *state) { delete static_cast<System *>(state); };
  return &table;
}
