// SPDX-License-Identifier: BSD-3-Clause
#include "library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cerrno>
#include <new>

namespace sextant::ordering_metis {

namespace {

void *open_own_copy(std::string &why) {
#ifdef __GLIBC__
  errno = 0;
  if (void *handle = ::dlmopen(LM_ID_NEWLM, Metis::name, RTLD_NOW | RTLD_LOCAL)) return handle;
  const int problem = errno;
  const char *reason = ::dlerror();
  if (problem == ENOMEM || problem == EMFILE || problem == ENFILE) throw std::bad_alloc();
  why = std::string(reason ? reason : "it could not be opened") + "; the package is " + Metis::package;
#else
  why = std::string(Metis::name) + " is not opened: the C library has no dlmopen";
#endif
  return nullptr;
}

}  // namespace

Metis::Metis() {
  void *const handle = open_own_copy(why_);
  if (!handle) return;
  order_ = reinterpret_cast<Order *>(::dlsym(handle, "METIS_NodeNDP"));
  seed_ = reinterpret_cast<Seed *>(::dlsym(handle, "libmetis__InitRandom"));
  if (!order_) {
    why_ = std::string(name) + " has no function METIS_NodeNDP";
    return;
  }
  // Builds for 64-bit indices have the same names: the width shows in how far 40 options reach.
  using SetOptions = int(void *);
  constexpr std::size_t options = 40;
  std::int32_t written[2 * options];
  std::fill_n(written, 2 * options, 77);
  if (auto *set = reinterpret_cast<SetOptions *>(::dlsym(handle, "METIS_SetDefaultOptions"))) set(written);
  if (written[0] == 77 || written[options] != 77) why_ = std::string(name) + " was built for other than 32-bit indices";
}

Metis &Metis::instance() {
  static Metis library;
  return library;
}

bool Metis::order(std::int32_t n, std::int32_t *start, std::int32_t *neighbour, std::int32_t *perm,
                  std::int32_t *inverse) {
  constexpr int metis_ok = 1;
  std::int32_t sizes[1] = {0};
  const std::lock_guard lock(busy_);
  if (seed_) seed_(-1);
  return order_(n, start, neighbour, nullptr, 1, nullptr, perm, inverse, sizes) == metis_ok;
}

std::uint64_t Metis::bytes(std::int64_t n, std::int64_t neighbours) {
  // Its copy of the graph with weights, coarser ones that sum up to as much again and half, and what it works in.
  return static_cast<std::uint64_t>(80 * n + 30 * neighbours) + (std::uint64_t{1} << 20);
}

}  // namespace sextant::ordering_metis
