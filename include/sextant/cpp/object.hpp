// SPDX-License-Identifier: BSD-3-Clause
// What all handles have in common: they own a handle of the C interface, move, and are not copied. Part of
// sextant/sextant.hpp.
#ifndef SEXTANT_CPP_OBJECT_HPP
#define SEXTANT_CPP_OBJECT_HPP

#include <memory>

#include "sextant/cpp/callbacks.hpp"

namespace sextant {
inline namespace cpp {
namespace detail {

template <class Handle, auto Destroy>
class Object {
 public:
  /// The handle, for calls of the C interface; still owned by this object. NULL where the object was moved from.
  Handle *get() const noexcept { return handle_.get(); }

  /// Throws what a call of the C interface on this object failed with, to be used right behind that call in the same
  /// thread; before that, what the context's log callable threw: the call may be the one that it was thrown in.
  void check(sxt_status status) const {
    if (const auto &log = handle_.get_deleter().log) log->rethrow();
    detail::check(status);
  }

 protected:
  // log: what the context that this object belongs to logs to; may be null.
  explicit Object(std::shared_ptr<LogSink> log) : handle_(nullptr, Deleter{std::move(log)}) {}

  template <class Other, auto DestroyOther>
  static std::shared_ptr<LogSink> log_of(const Object<Other, DestroyOther> &other) {
    return other.handle_.get_deleter().log;
  }
  // Runs a function of the C interface that makes a handle, and owns what it made.
  template <class Make>
  void make(Make make) {
    Handle *made = nullptr;
    const sxt_status status = make(&made);
    handle_.reset(made);
    check(status);
  }

 private:
  template <class, auto>
  friend class Object;
  // The library may log as long as one handle is there, so each keeps the log beyond its own end.
  struct Deleter {
    std::shared_ptr<LogSink> log;
    void operator()(Handle *handle) const noexcept { Destroy(handle); }
  };
  std::unique_ptr<Handle, Deleter> handle_;
};

// The handle of an argument that may not be left out: where the C interface takes NULL for none, an object that was
// moved from is refused here.
template <class Handle, auto Destroy>
Handle *needed(const char *name, const Object<Handle, Destroy> &object) {
  require(object.get() != nullptr, SXT_E_ARGUMENT, name, " was moved from");
  return object.get();
}

}  // namespace detail
}  // namespace cpp
}  // namespace sextant
#endif
