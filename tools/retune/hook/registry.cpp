// SPDX-License-Identifier: BSD-3-Clause
#include "hook/registry.hpp"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "hook/entries.hpp"
#include "hook/settings.hpp"
#include "hook/timing.hpp"

namespace sextant::retune {

using driver::Handle;

namespace {

// Signals wait while this thread proves: a handler that ends the program, or forks, would find the allocator at work
// for us, where the program itself stood in a launch. Faults do not wait. The mask is put back.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&all, fault);
    changed_ = pthread_sigmask(SIG_BLOCK, &all, &before_) == 0;
  }
  ~SignalsHeld() {
    if (changed_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalsHeld(const SignalsHeld &) = delete;
  SignalsHeld &operator=(const SignalsHeld &) = delete;

 private:
  sigset_t before_;
  bool changed_;
};

}  // namespace

std::size_t HandleTable::place(Handle handle, std::size_t capacity) {
  return (reinterpret_cast<std::uintptr_t>(handle) * 0x9e3779b97f4a7c15u >> 20) & (capacity - 1);
}

Kernel *HandleTable::find(Handle handle) const {
  const Table *table = current_.load(std::memory_order_acquire);
  if (!table) return nullptr;
  const std::size_t capacity = table->entries.size();
  for (std::size_t at = place(handle, capacity);; at = (at + 1) & (capacity - 1)) {
    const Handle held = table->entries[at].handle.load(std::memory_order_acquire);
    if (held == handle) return table->entries[at].kernel.load(std::memory_order_acquire);
    if (!held) return nullptr;
  }
}

void HandleTable::put(Table &table, Handle handle, Kernel *kernel) {
  const std::size_t capacity = table.entries.size();
  for (std::size_t at = place(handle, capacity);; at = (at + 1) & (capacity - 1)) {
    Entry &entry = table.entries[at];
    const Handle held = entry.handle.load(std::memory_order_relaxed);
    if (held && held != handle) continue;
    entry.kernel.store(kernel, std::memory_order_release);
    entry.handle.store(handle, std::memory_order_release);
    return;
  }
}

void HandleTable::set(Handle handle, Kernel *kernel) {
  if (!handle) return;
  Table *table = current_.load(std::memory_order_relaxed);
  const bool there = table && find(handle) != nullptr;
  if (!there && !kernel) return;
  if (!table || used_ * 2 >= table->entries.size()) {
    auto larger = std::make_unique<Table>(table ? table->entries.size() * 2 : 256);
    used_ = 0;
    for (std::size_t i = 0; table && i < table->entries.size(); ++i) {
      const Handle held = table->entries[i].handle.load(std::memory_order_relaxed);
      Kernel *of = table->entries[i].kernel.load(std::memory_order_relaxed);
      if (held && of) put(*larger, held, of), ++used_;
    }
    table = larger.get();
    tables_.push_back(std::move(larger));
    current_.store(table, std::memory_order_release);
  }
  if (!there) ++used_;  // at most: a forgotten handle may have its place still
  put(*table, handle, kernel);
}

bool Registry::is_ours() const {
  const int owner = process_.load(std::memory_order_acquire);
  return owner == 0 || owner == getpid();
}

Lock Registry::lock() {
  int owner = 0;
  const int own = getpid();
  if (!process_.compare_exchange_strong(owner, own) && owner != own) throw NotOurs{};
  if (Lock::is_here()) throw NotOurs{};
  return Lock(std::unique_lock(mutex_));
}

Lock Registry::lock_for(std::chrono::milliseconds most) {
  if (!is_ours() || Lock::is_here()) throw NotOurs{};
  const auto end = std::chrono::steady_clock::now() + most;
  std::unique_lock held(mutex_, std::try_to_lock);
  while (!held && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    held.try_lock();
  }
  return Lock(std::move(held));
}

void Registry::loaded(Handle owner, bool library, image::Image image) {
  const auto one = lock();
  loaded_.store(true, std::memory_order_release);
  forget(owner);
  auto module = std::make_shared<LoadedModule>();
  module->image = std::move(image);
  owners_[owner] = {std::move(module), library, {}, {}};
}

void Registry::unloaded(Handle owner) {
  const auto one = lock();
  forget(owner);
}

void Registry::forget(Handle owner) {
  const auto known = owners_.find(owner);
  if (known == owners_.end()) return;
  for (const Handle function : known->second.functions) {
    const auto named = functions_.find(function);
    if (named == functions_.end() || named->second.owner != owner) continue;  // it is another's by now
    functions_.erase(named);
    handles_.set(function, nullptr);
  }
  const std::vector<Handle> aliases = std::move(known->second.aliases);
  owners_.erase(known);
  for (const Handle alias : aliases) forget(alias);
}

void Registry::found(Handle function, Handle owner, const char *name, bool kernel) {
  const auto one = lock();
  loaded_.store(true, std::memory_order_release);
  const auto known = owners_.find(owner);
  if (known == owners_.end() || !name) {
    functions_.erase(function);
    handles_.set(function, nullptr);
    return;
  }
  const auto [named, first] = functions_.try_emplace(function);
  if (!first && named->second.owner == owner && named->second.name == name) return;
  named->second = {owner, name, kernel};
  known->second.functions.push_back(function);
  handles_.set(function, nullptr);
}

void Registry::function_of(Handle function, Handle kernel) {
  std::string name;
  Handle owner = nullptr;
  {
    const auto one = lock();
    if (const auto known = functions_.find(kernel); known != functions_.end())
      name = known->second.name, owner = known->second.owner;
  }
  found(function, owner, name.c_str(), false);
}

void Registry::same_module(Handle module, Handle library) {
  const auto one = lock();
  const auto known = owners_.find(library);
  if (known == owners_.end() || module == library) return;
  known->second.aliases.push_back(module);
  const std::shared_ptr<LoadedModule> shared = known->second.module;
  owners_[module] = {shared, false, {}, {}};
}

void Registry::forget_contexts() {
  const auto one = lock();
  std::vector<Handle> modules, functions;
  for (const auto &[owner, held] : owners_)
    if (!held.library) modules.push_back(owner);
  for (const Handle module : modules) forget(module);
  for (const auto &[function, named] : functions_)
    if (!named.kernel) functions.push_back(function);
  for (const Handle function : functions) {
    functions_.erase(function);
    handles_.set(function, nullptr);
  }
  forget_pending();
}

Kernel *Registry::resolve(Handle handle) {
  const SignalsHeld held;
  const auto one = lock();
  const auto named = functions_.find(handle);
  if (named == functions_.end() || settings().off) return nullptr;
  Kernel *kernel = make(named->second, handle);
  if (kernel) handles_.set(handle, kernel);
  return kernel;
}

Registry &registry() {
  static Registry *const the = new Registry;  // until the process has ended
  return *the;
}

}  // namespace sextant::retune
