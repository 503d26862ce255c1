// SPDX-License-Identifier: BSD-3-Clause
// Which handle is which kernel of which module. Handles are forgotten with their module, library or context, because
// the driver gives addresses out again.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "hook/driver.hpp"
#include "hook/kernel.hpp"
#include "image/image.hpp"
#include "ptx/prove.hpp"

namespace sextant::retune {

// Handles to kernels; look-ups take no lock.
class HandleTable {
 public:
  Kernel *find(driver::Handle handle) const;
  void set(driver::Handle handle, Kernel *kernel);  // one writer at a time

 private:
  struct Entry {
    std::atomic<driver::Handle> handle{nullptr};
    std::atomic<Kernel *> kernel{nullptr};
  };
  struct Table {
    explicit Table(std::size_t capacity) : entries(capacity) {}
    std::vector<Entry> entries;
  };
  static std::size_t place(driver::Handle handle, std::size_t capacity);
  static void put(Table &table, driver::Handle handle, Kernel *kernel);
  // Older tables stay: a reader may be in one.
  std::vector<std::unique_ptr<Table>> tables_;
  std::atomic<Table *> current_{nullptr};
  std::size_t used_ = 0;
};

// One text of an image, read when a kernel of it is first launched.
struct Proofs {
  std::string text, problem;
  ptx::Module module;
  std::unique_ptr<ptx::Prover> prover;
};

struct LoadedModule {
  image::Image image;
  std::vector<std::unique_ptr<Proofs>> proofs;  // one for each PTX of the image, once needed
};

// The registry's lock, and that this thread has it.
class Lock {
 public:
  explicit Lock(std::unique_lock<std::mutex> held) : held_(std::move(held)) { is_here_ = held_.owns_lock(); }
  ~Lock() {
    if (held_) is_here_ = false;
  }
  Lock(const Lock &) = delete;
  explicit operator bool() const { return held_.owns_lock(); }
  static bool is_here() { return is_here_; }

 private:
  std::unique_lock<std::mutex> held_;
  static inline thread_local volatile bool is_here_ = false;
};

// This process was forked from one that uses the device: what it launches, the driver refuses.
struct NotOurs {};

class Registry {
 public:
  void loaded(driver::Handle owner, bool library, image::Image image);
  void unloaded(driver::Handle owner);
  void found(driver::Handle function, driver::Handle owner, const char *name, bool kernel);
  void function_of(driver::Handle function, driver::Handle kernel);
  void same_module(driver::Handle module, driver::Handle library);
  void forget_contexts();

  // The kernel behind a handle that is launched; null where it is not known. Proves it at its first launch.
  Kernel *find(driver::Handle handle) {
    Kernel *known = handles_.find(handle);
    return known ? known : resolve(handle);
  }
  // Throws NotOurs in a child of the process that used the device: a thread that the child does not have may hold the
  // lock.
  // Also where this thread holds it already, because a signal's handler came between.
  Lock lock();
  // The same, or none after so long.
  Lock lock_for(std::chrono::milliseconds most);
  std::atomic<std::uint64_t> unknown_launches{0};
  // Of the process that first used the device; a child that did not is none of ours.
  bool is_ours() const;
  bool has_loaded() const { return loaded_.load(std::memory_order_acquire); }
  // Under the lock.
  const std::vector<std::unique_ptr<Kernel>> &kernels() const { return kernels_; }

 private:
  struct Owner {
    std::shared_ptr<LoadedModule> module;
    bool library = false;
    std::vector<driver::Handle> functions, aliases;
  };
  struct FunctionName {
    driver::Handle owner = nullptr;
    std::string name;
    bool kernel = false;
  };
  void forget(driver::Handle owner);
  Kernel *resolve(driver::Handle handle);
  Kernel *make(const FunctionName &function, driver::Handle handle);

  std::mutex mutex_;
  HandleTable handles_;
  std::unordered_map<driver::Handle, Owner> owners_;
  std::unordered_map<driver::Handle, FunctionName> functions_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::multimap<std::pair<std::uint64_t, std::string>, Kernel *> by_name_;
  std::map<int, std::shared_ptr<const Device>> devices_;
  std::atomic<int> process_{0};
  std::atomic<bool> loaded_{false};
};

Registry &registry();

// The verdict on a kernel by the PTX that its machine code was compiled from.
ptx::Verdict verdict_on(LoadedModule &module, const std::string &kernel, int compiled_from);

}  // namespace sextant::retune
