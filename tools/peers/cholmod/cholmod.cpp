// SPDX-License-Identifier: BSD-3-Clause
// CHOLMOD of SuiteSparse: its own choice of an order, supernodal or simplicial factorisation, and solves.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "../library.hpp"
#include "system.hpp"

namespace {

// Of OpenBLAS, where that is the BLAS that CHOLMOD calls; NULL: another one, which keeps its number of threads.
using SetThreads = void (*)(int);
using GetThreads = int (*)();
SetThreads set_threads = nullptr;
GetThreads get_threads = nullptr;
std::string description;
std::int32_t asked_threads = 1;

struct State {
  cholmod_peer::System system;
  std::vector<std::int64_t> from;  // where the values of its triangle stand
  const double *values = nullptr;
};

State *make_state(const sxt_peer_csr &a) {
  auto state = std::make_unique<State>();
#if CHOLMOD_MAIN_VERSION >= 4
  state->system.common.nthreads_max = asked_threads;
#endif
  state->values = a.values;
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col[k] <= i) state->from.push_back(k);
  cholmod_peer::System &system = state->system;
  system.allocate(static_cast<std::size_t>(a.rows), state->from.size());
  int place = 0;
  for (std::int32_t i = 0; i < a.rows; ++i) {
    system.begins()[i] = place;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col[k] <= i) system.rows()[place++] = a.col[k];
  }
  system.begins()[a.rows] = place;
  system.analyse();
  return state.release();
}

int factor(void *state) {
  return peer::guarded([state] {
    State &own = *static_cast<State *>(state);
    for (std::size_t k = 0; k < own.from.size(); ++k) own.system.values()[k] = own.values[own.from[k]];
    own.system.factor();
    return true;
  });
}

int solve(void *state, const double *b, double *x, std::int32_t n_rhs) {
  return peer::guarded([&] {
    State &own = *static_cast<State *>(state);
    const auto columns = static_cast<std::size_t>(n_rhs);
    std::copy_n(own.system.solve(b, columns), own.system.l->n * columns, x);
    return true;
  });
}

// Those that CHOLMOD starts itself: older ones a fixed number, unless OMP_THREAD_LIMIT is less.
std::int32_t own_threads() {
#if defined(CHOLMOD_OMP_NUM_THREADS)
  const char *const limit = std::getenv("OMP_THREAD_LIMIT");
  const std::int32_t most = limit ? std::atoi(limit) : CHOLMOD_OMP_NUM_THREADS;
  return most > 0 ? std::min<std::int32_t>(most, CHOLMOD_OMP_NUM_THREADS) : CHOLMOD_OMP_NUM_THREADS;
#else
  return asked_threads;
#endif
}

int open(const char *const *, std::int32_t threads, sxt_peer_message *) {
  asked_threads = threads;
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
  table.threads = [] { return std::max<std::int32_t>(get_threads ? get_threads() : 1, own_threads()); };
  table.cholesky_prepare = [](const sxt_peer_csr *a, void **state, sxt_peer_message *message) {
    return peer::guarded("CHOLMOD", state, message, [a] { return make_state(*a); });
  };
  table.cholesky_factor = factor;
  table.cholesky_solve = solve;
  table.cholesky_release = [](void *state) { delete static_cast<State *>(state); };
  return &table;
}
