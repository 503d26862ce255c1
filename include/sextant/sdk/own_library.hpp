// SPDX-License-Identifier: BSD-3-Clause
// A library as a copy of the plugin's own, in a linker namespace of its own: other data than a copy that the
// application uses. OpenBLAS has one number of threads for the whole process; in its own copy a plugin sets it
// to one, and what the application sets in its own stays as it is. For plugins on the CPU; links nothing but the
// dynamic linker.
#pragma once

#include <dlfcn.h>
#include <sched.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>
#include <string>
#include <thread>

namespace sextant::plugin {

#ifdef __GLIBC__
// The calling thread may use one processor while this stands.
class OnOneProcessor {
 public:
  OnOneProcessor() {
    const int here = ::sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(here, &one);
    changed_ = ::sched_setaffinity(0, sizeof one, &one) == 0;
  }
  ~OnOneProcessor() {
    if (changed_) ::sched_setaffinity(0, sizeof before_, &before_);
  }
  OnOneProcessor(const OnOneProcessor &) = delete;

 private:
  cpu_set_t before_;
  bool changed_ = false;
};
#endif

class OwnLibrary {
 public:
  // The first of these names that opens; afterwards why() says what the linker had against the last one. Throws
  // std::bad_alloc where memory is short: a static that holds the library is then made again at the next use.
  template <std::size_t N>
  explicit OwnLibrary(const char *const (&names)[N]) {
    for (const char *name : names)
      if (!handle_) open(name);
    if (handle_) why_.clear();
  }

  bool is_open() const { return handle_ && why_.empty(); }
  const char *why() const { return why_.c_str(); }

  // A function by name; one that is missing closes the library for use: why() names it.
  template <class F>
  void find(F *&function, const std::string &name) {
    find_if_there(function, name);
    if (!function && why_.empty()) why_ = "it has no function " + name;
  }
  template <class F>
  void find_if_there(F *&function, const std::string &name) {
    function = handle_ ? reinterpret_cast<F *>(::dlsym(handle_, name.c_str())) : nullptr;
  }

 private:
  // OpenBLAS starts a thread for every processor that it sees while it is opened, and the C library of another
  // namespace ends the process where it has no memory for one: its errno is not the one that the allocator sets. It
  // sees one.
  void open(const char *name) {
#ifdef __GLIBC__
    int problem = 0;
    {
      const OnOneProcessor alone;
      errno = 0;
      handle_ = ::dlmopen(LM_ID_NEWLM, name, RTLD_NOW | RTLD_LOCAL);
      problem = errno;
    }
    if (handle_) return;
    const char *reason = ::dlerror();
    if (problem == ENOMEM || problem == EMFILE || problem == ENFILE) throw std::bad_alloc();
    why_ = reason ? reason : "it could not be opened";
#else
    why_ = std::string(name) +
           " is not opened: the C library has no dlmopen, and a shared copy's threads are the application's to set";
#endif
  }

  void *handle_ = nullptr;  // never closed: threads of the library may run in it
  std::string why_;         // it cannot be used
};

// BLAS and LAPACK by the names that distributions give them, every call on the thread that makes it.
class OwnBlas : public OwnLibrary {
 public:
  static constexpr const char *names[] = {"libopenblas.so.0", "libopenblas.so", "liblapack.so.3"};
  // OpenBLAS ends the process when more callers ask it for buffers.
  static constexpr int most_callers = 64;

  OwnBlas() : OwnLibrary(names) {
    void (*set)(int) = nullptr;
    find_if_there(set, "openblas_set_num_threads");  // only OpenBLAS has it
    if (set) set(1);
  }
};

// Lets most_callers in at once; the others wait.
class BlasCallers {
 public:
  class Inside {
   public:
    explicit Inside(BlasCallers &callers) : count_(callers.count_) {
      while (count_.fetch_add(1, std::memory_order_acquire) >= OwnBlas::most_callers) {
        count_.fetch_sub(1, std::memory_order_relaxed);
        std::this_thread::yield();
      }
    }
    Inside(const Inside &) = delete;
    ~Inside() { count_.fetch_sub(1, std::memory_order_release); }

   private:
    std::atomic<int> &count_;
  };

 private:
  std::atomic<int> count_{0};
};

}  // namespace sextant::plugin
