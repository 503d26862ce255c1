// SPDX-License-Identifier: BSD-3-Clause
// glibc offers no way to make the data that could fail. What it will ask for is therefore asked for first and given
// back: only another thread that takes the last memory in between can still make it end the process.
#include "core/base/thread_storage.hpp"

#include <cxxabi.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#ifdef __GLIBC__
#include <link.h>

extern "C" void *__tls_get_addr(void *);
#endif

namespace sextant::thread_storage {

#ifdef __GLIBC__

namespace {

struct Module {
  unsigned long id;
  std::size_t bytes;
};

// Modules beyond these are left to themselves.
constexpr unsigned most = 512;
constinit Module modules[most]{};
constinit std::atomic<unsigned> known{0};
constinit std::mutex adding;
constinit thread_local unsigned had = 0;  // of the modules, by this thread

struct Search {
  ElfW(Addr) address;
  Module found;
};

int look_at(dl_phdr_info *info, std::size_t, void *arg) {
  Search &search = *static_cast<Search *>(arg);
  bool inside = false;
  std::size_t bytes = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &part = info->dlpi_phdr[i];
    if (part.p_type == PT_LOAD) inside = inside || search.address - info->dlpi_addr - part.p_vaddr < part.p_memsz;
    if (part.p_type == PT_TLS) bytes = part.p_memsz + part.p_align;
  }
  if (inside) search.found = {info->dlpi_tls_modid, bytes};
  return inside;
}

bool could_have(std::size_t bytes) {
  void *volatile memory = std::malloc(bytes);  // volatile: or the compiler leaves both calls out
  std::free(memory);
  return memory != nullptr;
}

bool make(const Module &module) {
  constexpr std::size_t slot = 16, spare_slots = 64, kept_by_malloc = 64;  // glibc's vector of a thread's blocks
  if (!could_have(module.bytes + kept_by_malloc + (module.id + spare_slots) * slot)) return false;
  unsigned long index[2] = {module.id, 0};
  __tls_get_addr(index);
  return true;
}

// The thread that loads the library has the runtime's data from then on.
const bool at_load = (add(reinterpret_cast<const void *>(&abi::__cxa_get_globals)), ready());

}  // namespace

void add(const void *address) noexcept {
  Search search{reinterpret_cast<ElfW(Addr)>(address), {}};
  if (dl_iterate_phdr(look_at, &search) == 0 || search.found.id == 0) return;
  const std::lock_guard lock(adding);
  const unsigned count = known.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < count; ++i)
    if (modules[i].id == search.found.id) return;
  if (count == most) return;
  modules[count] = search.found;
  known.store(count + 1, std::memory_order_release);
}

bool ready() noexcept {
  for (const unsigned count = known.load(std::memory_order_acquire); had < count; ++had)
    if (!make(modules[had])) return false;
  return true;
}

#else

void add(const void *) noexcept {}
bool ready() noexcept { return true; }

#endif

}  // namespace sextant::thread_storage
