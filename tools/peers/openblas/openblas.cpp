// SPDX-License-Identifier: BSD-3-Clause
// OpenBLAS: vector operations and reductions.
#include <string>

#include "../blas.hpp"

namespace {

peer::Blas blas{};
std::string description, location;
int (*get_threads)() = nullptr;
int (*get_parallel)() = nullptr;
sxt_peer table{};

int open(const char *const *folders, std::int32_t threads, sxt_peer_message *message) {
  // Debian's variant on OpenMP shares its threads with all other users of OpenMP here; the other variant's threads keep
  // spinning.
  const char *const shared[] = {"/usr/lib/x86_64-linux-gnu/openblas-openmp", nullptr};
  peer::Library library;
  std::string tried;
  if (!library.open_in(folders, "libopenblas.so.0", tried) && !library.open_in(shared, "libopenblas.so.0", tried) &&
      !library.open_path("libopenblas.so.0", tried)) {
    return peer::say(message, "no libopenblas.so.0: " + tried);
  }
  void (*set_threads)(int) = nullptr;
  char *(*get_config)() = nullptr;
  if (!blas.find(library) || !library.find(set_threads, "openblas_set_num_threads") ||
      !library.find(get_threads, "openblas_get_num_threads") || !library.find(get_config, "openblas_get_config") ||
      !library.find(get_parallel, "openblas_get_parallel")) {
    return peer::say(message, library.path() + " lacks functions of OpenBLAS");
  }
  set_threads(threads);
  table.own_threads = get_parallel() == 1;  // 1: pthreads, 2: OpenMP
  description = std::string(get_config()) + (get_parallel() == 2 ? ", OpenMP" : ", own threads");
  location = library.path();
  return 0;
}

}  // namespace

const sxt_peer *sxt_peer_entry() {
  table.interface_version = SXT_PEER_INTERFACE;
  table.name = "openblas";
  table.open = open;
  table.version = [] { return description.c_str(); };
  table.location = [] { return location.c_str(); };
  table.threads = [] { return get_threads(); };
  peer::offer<blas>(table);
  return &table;
}
