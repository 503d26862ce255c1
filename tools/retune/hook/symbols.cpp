// SPDX-License-Identifier: BSD-3-Clause
// dlsym and dlvsym of programs come here first. Names that are not the driver's go on by a jump, so that the real
// function sees its caller's return address, which RTLD_NEXT and RTLD_DEFAULT depend on.
#include "hook/symbols.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "hook/entries.hpp"

using namespace sextant::retune;

extern "C" {
// Read by the assembly below.
__attribute__((visibility("hidden"))) void *retune_next_dlsym = nullptr;
__attribute__((visibility("hidden"))) void *retune_next_dlvsym = nullptr;
__attribute__((visibility("hidden"))) void *retune_route(void *handle, const char *name, const char *version);
}

#ifndef __x86_64__
#error "the retuner's way into dlsym is written for x86-64"
#endif
// Saves the arguments, asks retune_route, and returns its answer (1: a null pointer) or jumps on (0).
#define SEXTANT_ROUTE(function, next, version)                                                                     \
  asm(".text\n.globl " #function "\n.type " #function ", @function\n" #function                                    \
      ":\n.cfi_startproc\nendbr64\npushq %rdi\n.cfi_adjust_cfa_offset 8\npushq %rsi\n.cfi_adjust_cfa_offset 8\n"   \
      "pushq %rdx\n.cfi_adjust_cfa_offset 8\n" version                                                             \
      "call retune_route\npopq %rdx\n.cfi_adjust_cfa_offset -8\npopq %rsi\n.cfi_adjust_cfa_offset -8\npopq %rdi\n" \
      ".cfi_adjust_cfa_offset -8\ntestq %rax, %rax\njne 1f\nmovq " #next                                           \
      "(%rip), %rax\ntestq %rax, %rax\nje 2f\njmpq *%rax\n"                                                        \
      "1: cmpq $1, %rax\njne 3f\n2: xorl %eax, %eax\n3: ret\n.cfi_endproc\n.size " #function ", .-" #function "\n");
SEXTANT_ROUTE(dlsym, retune_next_dlsym, "xorl %edx, %edx\n")
SEXTANT_ROUTE(dlvsym, retune_next_dlvsym, "")

namespace {

struct Search {
  const char *name;
  const void *self;     // an address inside this library
  bool behind = false;  // this library was passed
  void *found = nullptr;
};

struct Tables {
  const ElfW(Sym) *symbols = nullptr;
  const char *strings = nullptr;
  const std::uint32_t *hashes = nullptr;
};

// Dynamic entries are addresses in glibc, offsets for the vDSO, which is passed over.
Tables tables_of(const dl_phdr_info &info) {
  Tables tables;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    for (auto *entry = reinterpret_cast<const ElfW(Dyn) *>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
         entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_un.d_ptr < info.dlpi_addr) continue;
      if (entry->d_tag == DT_SYMTAB) tables.symbols = reinterpret_cast<const ElfW(Sym) *>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRTAB) tables.strings = reinterpret_cast<const char *>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_GNU_HASH) tables.hashes = reinterpret_cast<const std::uint32_t *>(entry->d_un.d_ptr);
    }
  }
  return tables;
}

// A name in the GNU hash table: buckets, then chains that end with an odd hash.
const ElfW(Sym) * lookup(const Tables &tables, const char *name) {
  if (!tables.symbols || !tables.strings || !tables.hashes) return nullptr;
  std::uint32_t hash = 5381;
  for (const char *c = name; *c; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  const std::uint32_t buckets = tables.hashes[0], first = tables.hashes[1], words = tables.hashes[2];
  if (buckets == 0) return nullptr;
  const std::uint32_t *const bucket = tables.hashes + 4 + words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t *const chain = bucket + buckets;
  std::uint32_t at = bucket[hash % buckets];
  if (at < first) return nullptr;
  for (;; ++at) {
    const std::uint32_t each = chain[at - first];
    const ElfW(Sym) &symbol = tables.symbols[at];
    if ((each | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF && !std::strcmp(tables.strings + symbol.st_name, name))
      return &symbol;
    if (each & 1) return nullptr;
  }
}

bool holds(const dl_phdr_info &info, const void *address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && at >= begin && at < begin + part.p_memsz) return true;
  }
  return false;
}

int visit(dl_phdr_info *info, std::size_t, void *given) {
  auto &search = *static_cast<Search *>(given);
  if (!search.behind) {
    search.behind = holds(*info, search.self);
    return 0;
  }
  const ElfW(Sym) *symbol = lookup(tables_of(*info), search.name);
  if (!symbol || ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC) return 0;
  search.found = reinterpret_cast<void *>(info->dlpi_addr + symbol->st_value);
  return 1;
}

void *find_behind(const char *name) {
  Search search{name, &retune_next_dlsym};
  dl_iterate_phdr(visit, &search);
  return search.found;
}

void find_next() {
  if (__atomic_load_n(&retune_next_dlsym, __ATOMIC_ACQUIRE)) return;
  __atomic_store_n(&retune_next_dlvsym, find_behind("dlvsym"), __ATOMIC_RELEASE);
  __atomic_store_n(&retune_next_dlsym, find_behind("dlsym"), __ATOMIC_RELEASE);
}

}  // namespace

namespace sextant::retune {

void *next_dlsym(void *handle, const char *name) {
  find_next();
  const auto next = reinterpret_cast<void *(*)(void *, const char *)>(retune_next_dlsym);
  return next ? next(handle, name) : nullptr;
}

bool defined_behind(const char *name) { return find_behind(name) != nullptr; }

void *driver_handle() {
  static std::atomic<void *> kept{nullptr};
  if (void *known = kept.load(std::memory_order_acquire)) return known;
  void *opened = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (opened) kept.store(opened, std::memory_order_release);
  return opened;
}

}  // namespace sextant::retune

// 0: go on; 1: there is no such symbol; else what to hand out.
extern "C" void *retune_route(void *handle, const char *name, const char *version) {
  find_next();
  if (!name || name[0] != 'c' || name[1] != 'u' || !is_entry(name)) return nullptr;
  void *const nothing = reinterpret_cast<void *>(1);
  if (handle == RTLD_DEFAULT || handle == RTLD_NEXT) {
    if (defined_behind(name)) return nullptr;
    next_dlsym(RTLD_NEXT, name);  // finds nothing, and leaves the message that dlerror then gives
    return nothing;
  }
  void *found = nullptr;
  if (version) {
    const auto next = reinterpret_cast<void *(*)(void *, const char *, const char *)>(retune_next_dlvsym);
    found = next ? next(handle, name, version) : nullptr;
  } else {
    found = next_dlsym(handle, name);
  }
  if (!found) return nullptr;  // once more, for the message
  if (is_export(found) && !defined_behind(name)) {
    next_dlsym(RTLD_NEXT, name);
    return nothing;
  }
  return substitute(found);
}
