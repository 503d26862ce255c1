// SPDX-License-Identifier: BSD-3-Clause
#include "library.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <new>
#include <string>

namespace sextant::hermitian_lapack {

namespace {

#ifdef __GLIBC__

struct Opening {
  const char *name;
  void *handle;
  bool shortage;
  char why[512];
};

void *open_here(void *arg) {
  Opening &opening = *static_cast<Opening *>(arg);
  cpu_set_t one;
  CPU_ZERO(&one);
  if (const int here = ::sched_getcpu(); here >= 0 && here < CPU_SETSIZE) {
    CPU_SET(here, &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  errno = 0;
  opening.handle = ::dlmopen(LM_ID_NEWLM, opening.name, RTLD_NOW | RTLD_LOCAL);
  if (opening.handle) return nullptr;
  opening.shortage = errno == ENOMEM || errno == EMFILE || errno == ENFILE;
  const char *reason = ::dlerror();
  std::snprintf(opening.why, sizeof opening.why, "%s", reason ? reason : "it could not be opened");
  return nullptr;
}

#endif

// The library in a namespace of the dynamic linker's own: other data than a copy that the application uses. NULL, with
// the linker's reason, where that cannot be had; throws where memory is short.
// A thread that may use one processor opens it: OpenBLAS starts a thread for every processor that it sees, and the C
// library of another namespace ends the process where it has no memory for one (its errno is not the one that the
// allocator sets).
void *open_own_copy(const char *name, std::string &why) {
#ifdef __GLIBC__
  Opening opening{name, nullptr, false, ""};
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // the application's signals are not for it
  pthread_t thread;
  const int failed = ::pthread_create(&thread, nullptr, open_here, &opening);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed) throw std::bad_alloc();
  ::pthread_join(thread, nullptr);
  if (opening.shortage) throw std::bad_alloc();
  why = opening.why;
  return opening.handle;
#else
  why = std::string(name) +
        " is not opened: the C library has no dlmopen, and a shared copy's threads are the "
        "application's to set";
  return nullptr;
#endif
}

}  // namespace

template <class F>
void Lapack::find(F *&function, const std::string &name) {
  function = handle_ ? reinterpret_cast<F *>(::dlsym(handle_, name.c_str())) : nullptr;
  if (!function && why_.empty()) why_ = "it has no function " + name;
}

Lapack::Lapack() {
  for (const char *name : names)
    if (!handle_) handle_ = open_own_copy(name, why_);
  const char letters[] = {'s', 'd', 'c', 'z'};
  for (int i = 0; i < 4; ++i) {
    const std::string letter(1, letters[i]), symmetric = i < 2 ? "sy" : "he";
    find(of[i].factor, letter + "potrf_");
    find(of[i].solve, letter + "potrs_");
    find(of[i].pivoted_factor, letter + symmetric + "trf_");
    find(of[i].pivoted_solve, letter + symmetric + "trs_");
  }
  // Only OpenBLAS has it: every call works on the thread that makes it.
  using SetThreads = void(int);
  if (auto *set = handle_ ? reinterpret_cast<SetThreads *>(::dlsym(handle_, "openblas_set_num_threads")) : nullptr)
    set(1);
}

const Lapack &Lapack::instance() {
  static const Lapack library;
  return library;
}

}  // namespace sextant::hermitian_lapack
