// SPDX-License-Identifier: BSD-3-Clause
// Objects of a thread that need a destructor. A thread_local that has one registers it at its first use, and the C
// library ends the process where it has no memory for that; here the first use answers NULL instead.
#pragma once

#include <new>
#include <type_traits>

namespace sextant {

namespace detail {

struct KeptForThread {
  KeptForThread *next = nullptr;
  void (*destroy)(KeptForThread *) noexcept = nullptr;
};

// Destroyed when the calling thread ends. False: there is no memory to remember it.
bool keep_for_thread(KeptForThread *kept) noexcept;

}  // namespace detail

// One T for each thread and type T.
template <class T>
class PerThread {
 public:
  // NULL: this thread has none yet.
  static T *there() noexcept { return mine_ ? &mine_->value : nullptr; }
  // Made at the first call; NULL where memory is short, and a later call tries again.
  static T *get() noexcept {
    if (mine_) return &mine_->value;
    Kept *const made = new (std::nothrow) Kept;
    if (!made) return nullptr;
    made->destroy = [](detail::KeptForThread *kept) noexcept {
      mine_ = nullptr;
      delete static_cast<Kept *>(kept);
    };
    if (!detail::keep_for_thread(made)) {
      delete made;
      return nullptr;
    }
    mine_ = made;
    return &made->value;
  }

 private:
  static_assert(std::is_nothrow_default_constructible_v<T>);
  struct Kept : detail::KeptForThread {
    T value{};
  };
  static inline constinit thread_local Kept *mine_ = nullptr;
};

}  // namespace sextant
