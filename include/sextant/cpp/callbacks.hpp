// SPDX-License-Identifier: BSD-3-Clause
// Callables as callbacks. An exception that one throws does not cross the C interface: it is kept, the call is
// cancelled where it can be, and it is thrown again when the call has returned. Part of sextant/sextant.hpp.
#ifndef SEXTANT_CPP_CALLBACKS_HPP
#define SEXTANT_CPP_CALLBACKS_HPP

#include <atomic>
#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sextant/cpp/errors.hpp"

namespace sextant {
inline namespace cpp {

/// What a progress callback answers.
enum class Continue : std::int32_t {
  yes = 0,  ///< Go on.
  no = 1    ///< Cancel the call.
};

/// A callable for progress, or none. It returns Continue, or nothing, which means yes.
template <class... A>
class Callback {
 public:
  /// None.
  Callback() = default;
  /// A callable that takes A... It is copied. None where it is an empty std::function or a null pointer.
  template <class F>
  requires std::invocable<F &, A...> &&(!std::same_as<std::remove_cvref_t<F>, Callback>)Callback(F callable) {
    using Answer = std::invoke_result_t<F &, A...>;
    static_assert(std::is_void_v<Answer> || std::same_as<Answer, Continue>,
                  "return Continue::yes, Continue::no or nothing");
    if constexpr (requires { callable == nullptr; }) {
      if (callable == nullptr) return;
    }
    if constexpr (std::is_void_v<Answer>) {
      call_ = [callable](A... arguments) mutable { return callable(arguments...), Continue::yes; };
    } else {
      call_ = std::move(callable);
    }
  }
  /// Whether there is one.
  explicit operator bool() const noexcept { return static_cast<bool>(call_); }
  /// Calls it.
  Continue operator()(A... arguments) const { return call_(arguments...); }

 private:
  std::function<Continue(A...)> call_;
};

/// Cancels solves and factorisations from another thread: options.cancel = flag.address(). It must outlive the call.
class CancelFlag {
 public:
  CancelFlag() = default;
  CancelFlag(const CancelFlag &) = delete;
  CancelFlag &operator=(const CancelFlag &) = delete;
  /// Cancels every call that looks at this flag. [any-thread]
  void cancel() noexcept { std::atomic_ref(flag_).store(1, std::memory_order_release); }
  /// Lets calls run again. [any-thread]
  void reset() noexcept { std::atomic_ref(flag_).store(0, std::memory_order_release); }
  /// For the member `cancel` of options.
  const volatile std::int32_t *address() const noexcept { return &flag_; }

 private:
  std::int32_t flag_ = 0;
};

namespace detail {

// The first exception of a call's callbacks; after one, no callback is called again.
class Kept {
 public:
  template <class Call>
  std::int32_t run(Call call) noexcept {
    if (thrown_) return 1;
    try {
      return static_cast<std::int32_t>(call());
    } catch (...) {
      thrown_ = std::current_exception();
      return 1;
    }
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::exception_ptr thrown_;
};

// A context's log: called from any thread as long as the context or an object made from it lives, so all of them share
// it. What it throws is thrown again by a call on one of them.
class LogSink {
 public:
  using Function = std::function<void(sxt_log_level, std::string_view)>;
  explicit LogSink(Function log) : log_(std::move(log)) {}

  static void call(void *user, sxt_log_level level, const char *message) noexcept {
    auto &self = *static_cast<LogSink *>(user);
    try {
      self.log_(level, message);
    } catch (...) {
      const std::lock_guard lock(self.mutex_);
      if (!self.thrown_) self.thrown_ = std::current_exception();
      self.threw_.store(true, std::memory_order_release);
    }
  }
  void rethrow() {
    if (!threw_.load(std::memory_order_acquire)) return;
    std::unique_lock lock(mutex_);
    const std::exception_ptr thrown = std::exchange(thrown_, nullptr);
    threw_.store(false, std::memory_order_release);
    lock.unlock();
    if (thrown) std::rethrow_exception(thrown);
  }

 private:
  Function log_;
  std::mutex mutex_;
  std::exception_ptr thrown_;
  std::atomic<bool> threw_{false};
};

}  // namespace detail
}  // namespace cpp
}  // namespace sextant
#endif
