// SPDX-License-Identifier: BSD-3-Clause
// METIS as this plugin calls it: opened at the first use as a copy of the plugin's own, with a C library of its own, so
// that the numbers it draws (srand, rand) are not the application's and an application's METIS is not disturbed.
// METIS_NodeND sets handlers of SIGABRT and SIGTERM for the whole process while it runs; METIS_NodeNDP, which does the
// same work, sets none. Either ends the process where malloc fails: what it takes is asked for beforehand.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace sextant::ordering_metis {

class Metis {
 public:
  static constexpr const char *name = "libmetis.so.5";
  static constexpr const char *package = "libmetis5";
  static Metis &instance();
  bool is_open() const { return why_.empty(); }
  const char *why() const { return why_.c_str(); }

  // perm[k]: the vertex that comes k-th. No loops in the graph. One caller at a time: what METIS draws has one state.
  // False: METIS refused the graph.
  bool order(std::int32_t n, std::int32_t *start, std::int32_t *neighbour, std::int32_t *perm, std::int32_t *inverse);
  // At most, for a graph of so many vertices and neighbours in all.
  static std::uint64_t bytes(std::int64_t n, std::int64_t neighbours);

 private:
  Metis();
  using Order = int(std::int32_t n, std::int32_t *start, std::int32_t *neighbour, std::int32_t *weight,
                    std::int32_t parts, std::int32_t *options, std::int32_t *perm, std::int32_t *inverse,
                    std::int32_t *sizes);
  using Seed = void(std::int32_t);
  Order *order_ = nullptr;
  Seed *seed_ = nullptr;
  std::string why_;
  std::mutex busy_;
};

}  // namespace sextant::ordering_metis
