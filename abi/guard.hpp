// SPDX-License-Identifier: BSD-3-Clause
// The exception guard of the C edge, and the messages it keeps for sxt_last_error.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/thread_storage.hpp"

namespace sextant::abi {

// Keeps a sentence for the calling thread: as the last of this context (0: of no context) and as the last of all.
void remember(std::uint64_t context, const char *sentence) noexcept;
// Keeps the sentence of a shortage of memory. It allocates nothing.
sxt_status short_of_memory(std::uint64_t context) noexcept;
// status, with a sentence where it says that the caller cancelled `what`.
sxt_status tell_cancelled(sxt_status status, std::uint64_t context, const char *what);
const char *remembered(std::uint64_t context) noexcept;  // 0: the last of all; never NULL

// While it lives this thread cannot be cancelled: pthread_cancel unwinds as an exception does, which no call of the
// library lets out, and what it would leave half done is others' too. The cancellation is pending until then.
class Uncancelled {
 public:
  Uncancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() {
    if (before_ != PTHREAD_CANCEL_DISABLE) pthread_setcancelstate(before_, nullptr);
  }
  Uncancelled(const Uncancelled &) = delete;
  Uncancelled &operator=(const Uncancelled &) = delete;

 private:
  int before_ = PTHREAD_CANCEL_DISABLE;
};

// Destroys the object that a handle holds.
template <class T>
void destroy(T *object) noexcept {
  const Uncancelled whole;
  delete object;
}

// Runs f, which returns nothing or a status, and turns exceptions into a status and a sentence.
template <class F>
sxt_status guarded(std::uint64_t context, F &&f) noexcept {
  const Uncancelled whole;
  if (!thread_storage::ready()) return short_of_memory(context);  // nothing may be thrown
  try {
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      return SXT_OK;
    } else {
      return f();
    }
  } catch (const Error &error) {
    remember(context, error.what());
    return error.status() < 0 && is_defined(error.status()) ? error.status() : sxt_status{SXT_E_INTERNAL};
  } catch (const std::bad_alloc &) {
    remember(context, status_sentence(SXT_E_MEMORY));
    return SXT_E_MEMORY;
  } catch (const std::system_error &error) {  // a thread that did not start, or a path
    remember(context, error.what());
    const bool shortage =
        error.code() == std::errc::not_enough_memory || error.code() == std::errc::resource_unavailable_try_again;
    return shortage ? SXT_E_MEMORY : SXT_E_INTERNAL;
  } catch (const std::exception &error) {
    remember(context, error.what());
    return SXT_E_INTERNAL;
  } catch (...) {
    remember(context, status_sentence(SXT_E_INTERNAL));
    return SXT_E_INTERNAL;
  }
}

// An argument that must not be NULL, named as in the header.
inline void present(const void *pointer, const char *name) {
  require(pointer != nullptr, SXT_E_ARGUMENT, name, " is NULL");
}
template <class T>
T &given(T *pointer, const char *name) {
  present(pointer, name);
  return *pointer;
}

// Fills a caller's buffer: cuts the text, terminates it, and reports its full length. The buffer may be NULL when the
// caller wants only the length.
void check_buffer(const char *buffer, std::int64_t capacity);
void fill(const std::string &text, char *buffer, std::int64_t capacity, std::int64_t *length);

}  // namespace sextant::abi
