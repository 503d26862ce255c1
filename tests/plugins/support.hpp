// SPDX-License-Identifier: BSD-3-Clause
// For tests of plugins: a host that counts, a loader, a machine for models, a kernel that is ready to run with scratch
// between guards. Of core only its threads are used: plugins are called through their tables alone.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/threads/pool.hpp"
#include "sextant/plugin/kinds/storage.h"
#include "sextant/plugin/team.h"
#include "sextant/sdk/kernel.hpp"

namespace plugin_test {

// A host that counts what it lends, can run out of memory, and keeps the last message of each thread.
struct Host {
  static inline std::atomic<int> blocks{0};       // lent and not returned
  static inline std::atomic<int> allocations{0};  // ever
  static inline std::atomic<int> fail_after{-1};  // allocations that still succeed; -1: all
  static inline thread_local std::string sentence;

  static const sxt_host *table() {
    static const sxt_host host = [] {
      sxt_host h{};
      h.struct_size = sizeof h;
      h.abi_minor = SXT_PLUGIN_ABI_MINOR;
      h.set_error = [](const sxt_host *, const sxt_exec *, const char *text) { sentence = text; };
      h.alloc = [](const sxt_host *, const sxt_exec *, sxt_space, std::uint64_t bytes,
                   std::uint64_t alignment) -> void * {
        if (fail_after >= 0 && fail_after-- <= 0) return fail_after = 0, nullptr;
        ++blocks, ++allocations;
        return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
      };
      h.free = [](const sxt_host *, const sxt_exec *, sxt_space, void *memory) {
        if (memory) --blocks;
        std::free(memory);
      };
      h.copy = [](const sxt_host *, const sxt_exec *, void *to, const void *from, std::uint64_t bytes) -> sxt_status {
        std::memcpy(to, from, bytes);
        return SXT_OK;
      };
      h.synchronize = [](const sxt_host *, const sxt_exec *) -> sxt_status { return SXT_OK; };
      h.get_service = [](const sxt_host *, const char *id) -> const void * {
        static const sxt_team_service team = {
            sizeof team,
            [](const sxt_host *, std::int32_t parts, std::int32_t threads, void (*work)(void *, std::int32_t),
               void *arg) { sextant::threads::run(parts, threads, work, arg); },
            [](const sxt_host *, std::int32_t threads, void (*work)(void *, std::int32_t, std::int32_t), void *arg) {
              sextant::threads::meet(threads, work, arg);
            }};
        return std::string(id) == SXT_SERVICE_TEAM ? &team : nullptr;
      };
      return h;
    }();
    return &host;
  }
};

inline sxt_exec make_exec(int threads = 1) {
  sxt_exec exec{};
  exec.host = Host::table();
  exec.threads = threads;
  return exec;
}

inline const sxt_plugin *load(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  const auto entry = reinterpret_cast<sxt_plugin_entry_fn>(dlsym(library, "sxt_plugin_entry_0"));
  const sxt_plugin *plugin = nullptr;
  if (!entry || entry(Host::table(), &plugin) != SXT_OK) throw std::runtime_error(path + " has no working entry");
  return plugin;
}

// <plugin directory>/<device>/<name>.so
inline const sxt_plugin *load_own(const std::string &name, const std::string &device = "cpu") {
  return load(SEXTANT_PLUGIN_DIR "/" + device + "/" + name + ".so");
}

inline const sxt_kernel &find_kernel(const sxt_plugin *plugin, const std::string &name) {
  for (std::uint64_t i = 0; i < plugin->n_kernels; ++i)
    if (name == plugin->kernels[i]->name) return *plugin->kernels[i];
  throw std::runtime_error(name + " is not in " + plugin->name);
}

// A machine for models: round numbers, AVX2.
inline sxt_machine make_machine(int units = 4) {
  sxt_machine m{};
  m.struct_size = sizeof m;
  m.device = "cpu";
  m.name = "test machine";
  m.level = 2;
  m.units = units;
  m.memory_bytes = std::uint64_t{1} << 34;
  m.cache_bytes = std::uint64_t{1} << 25;
  m.unit_cache_bytes = std::uint64_t{1} << 20;
  m.stream_rate_unit = 1e10;
  m.stream_rate = m.stream_rate_unit * units;
  m.cache_rate_unit = 3e10;
  m.cache_rate = m.cache_rate_unit * units;
  m.gather_rate_unit = 1e8;
  m.gather_rate = m.gather_rate_unit * units;
  m.flop_rate_f64 = 4e10 * units;
  m.flop_rate_f32 = 8e10 * units;
  m.launch_s = 1e-7;
  m.barrier_s = 2e-6;
  m.copy_rate = 1e10;
  return m;
}

// The same with the limits of an H200, of another compute capability where a test wants one.
inline sxt_machine make_gpu(std::int32_t level = 90) {
  sxt_machine m = make_machine(132);
  m.device = "cuda";
  m.level = level;
  m.warp = 32;
  m.threads_per_unit = 2048, m.blocks_per_unit = 32, m.registers_per_unit = 65536;
  m.shared_per_unit = 233472, m.shared_per_block = 232448, m.threads_per_block = 1024;
  m.blocks_per_cluster = 16;
  return m;
}

inline std::vector<sxt_candidate> ask_candidates(const sxt_kernel &kernel, const sxt_query *query,
                                                 const sxt_machine &machine, const sxt_features *features = nullptr) {
  std::vector<sxt_candidate> list(64);
  std::uint64_t count = 0;
  const sxt_status status = kernel.candidates(query, features, &machine, nullptr, list.data(), list.size(), &count);
  if (status != SXT_OK || count > list.size())
    throw std::runtime_error(std::string(kernel.name) + " has no candidates");
  list.resize(count);
  return list;
}

// The candidate that uses so many threads.
inline sxt_candidate candidate_of(const sxt_kernel &kernel, const sxt_query *query, int threads) {
  return ask_candidates(kernel, query, make_machine(threads)).back();
}

// Why a kernel refuses; empty where it does not.
inline std::string refusal(const sxt_kernel &kernel, const sxt_query *query,
                           const sxt_machine &machine = make_machine()) {
  char text[256] = "";
  sxt_message message{text, sizeof text};
  if (!kernel.applicable || kernel.applicable(query, nullptr, &machine, &message) == SXT_OK) return "";
  return text[0] ? text : "no reason given";
}

// Poisoned bytes between guards: 256 bytes that must not change, followed by a page without access, because reading too
// far is an error as well.
class Scratch {
 public:
  explicit Scratch(std::uint64_t bytes) : bytes_(bytes) {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    size_ = (bytes + 2 * guard + alignment + page - 1) / page * page + page;
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    auto *const end = static_cast<unsigned char *>(memory_) + size_ - page;
    if (mprotect(end, page, PROT_NONE) != 0) throw std::runtime_error("mprotect failed");
    std::fill(static_cast<unsigned char *>(memory_), end, poison);
    start_ = end - guard - bytes;
    start_ -= reinterpret_cast<std::uintptr_t>(start_) % alignment;
  }
  Scratch(const Scratch &) = delete;
  ~Scratch() { munmap(memory_, size_); }
  void *data() const { return start_; }
  bool intact() const {
    const auto same = [](unsigned char c) { return c == poison; };
    return std::all_of(start_ - guard, start_, same) && std::all_of(start_ + bytes_, start_ + bytes_ + guard, same);
  }

 private:
  static constexpr std::uint64_t guard = 256, alignment = 256;
  static constexpr unsigned char poison = 0xA5;
  std::uint64_t bytes_, size_ = 0;
  void *memory_ = nullptr;
  unsigned char *start_ = nullptr;
};

// A kernel with one state, released at the end. run() lends exactly the scratch the candidate asked for.
class Ready {
 public:
  Ready(const sxt_kernel &kernel, const sxt_query *query, const sxt_candidate &candidate, const sxt_head *a = nullptr)
      : kernel_(kernel), candidate_(candidate), query_(query) {
    const sxt_problem problem = {sizeof(sxt_problem), query, a, nullptr};
    const sxt_exec exec = make_exec(threads());
    if (kernel.prepare) status_ = kernel.prepare(&problem, &candidate_, nullptr, &exec, &state_);
  }
  Ready(const Ready &) = delete;
  ~Ready() {
    if (kernel_.release && status_ == SXT_OK) kernel_.release(state_);
  }
  sxt_status status() const { return status_; }
  void *state() const { return state_; }
  int threads() const { return static_cast<int>(std::max<std::int64_t>(1, candidate_.launch[0])); }

  sxt_status run(sxt_head *args) { return run(args, threads()); }
  sxt_status run(sxt_head *args, int threads) {
    const Scratch scratch(candidate_.scratch_bytes);
    sxt_exec exec = make_exec(threads);
    exec.scratch = scratch.data();
    exec.scratch_bytes = candidate_.scratch_bytes;
    const int before = Host::allocations;
    const sxt_status status = kernel_.run(state_, nullptr, args, &exec);
    EXPECT_EQ(Host::allocations, before) << kernel_.name << " allocates while running";
    EXPECT_TRUE(scratch.intact()) << kernel_.name << " writes outside its scratch";
    return status;
  }
  sxt_status refresh(const sxt_head *a) {
    const sxt_problem problem = {sizeof(sxt_problem), query_, a, nullptr};
    const sxt_exec exec = make_exec(threads());
    const int before = Host::allocations;
    const sxt_status status = kernel_.refresh(state_, &problem, &exec);
    EXPECT_EQ(Host::allocations, before) << kernel_.name << " allocates in refresh";
    return status;
  }

 private:
  const sxt_kernel &kernel_;
  sxt_candidate candidate_;
  const sxt_query *query_;
  void *state_ = nullptr;
  sxt_status status_ = SXT_OK;
};

// What a storage kernel publishes for a host CSR matrix.
inline const sxt_head *view_of(const sxt_kernel &storage, const Ready &ready) {
  return &static_cast<const sxt_storage_ops *>(storage.ops)->view(ready.state())->h;
}

}  // namespace plugin_test
