// SPDX-License-Identifier: BSD-3-Clause
// cuDSS of NVIDIA: sparse Cholesky on the first GPU, with its own order and defaults. Values, right-hand sides and
// solutions are copied inside the times, as those of a matrix on the host are.
#include <algorithm>
#include <memory>
#include <string>

#include "../library.hpp"
#include "system.hpp"

namespace {

cudss_peer::Functions functions;
std::string description, location;

struct State {
  explicit State(const sxt_peer_csr &a) : values(a.values), system(functions, a) {}
  const double *values;
  cudss_peer::System system;
};

int open(const char *const *folders, std::int32_t, sxt_peer_message *message) {
  std::string tried;
  if (!functions.load(folders, tried, location)) return peer::say(message, "cuDSS was not found: " + tried);
  int version[3] = {};
  for (int part = 0; part < 3; ++part) functions.property(part, &version[part]);
  description = std::to_string(version[0]) + "." + std::to_string(version[1]) + "." + std::to_string(version[2]);
  return 0;
}

int factor(void *state) {
  return peer::guarded([state] {
    State &own = *static_cast<State *>(state);
    own.system.put_values(own.values);
    own.system.factor();
    return true;
  });
}

int solve(void *state, const double *b, double *x, std::int32_t n_rhs) {
  return peer::guarded([&] {
    State &own = *static_cast<State *>(state);
    const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(own.system.rows() * n_rhs);
    cudss_peer::DeviceArray right(functions, bytes), left(functions, bytes);
    right.put(b, bytes);
    own.system.solve(right.data(), left.data(), n_rhs);
    return functions.copy(x, left.data(), bytes, cudss_peer::memory_to_host) == 0;
  });
}

}  // namespace

const sxt_peer *sxt_peer_entry() {
  static sxt_peer table{};
  table.interface_version = SXT_PEER_INTERFACE;
  table.name = "cudss";
  table.open = open;
  table.version = [] { return description.c_str(); };
  table.location = [] { return location.c_str(); };
  table.threads = [] { return std::int32_t{1}; };
  table.cholesky_prepare = [](const sxt_peer_csr *a, void **state, sxt_peer_message *message) {
    return peer::guarded("cuDSS", state, message, [a] { return new State(*a); });
  };
  table.cholesky_factor = factor;
  table.cholesky_solve = solve;
  table.cholesky_release = [](void *state) { delete static_cast<State *>(state); };
  return &table;
}
