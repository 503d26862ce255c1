// SPDX-License-Identifier: BSD-3-Clause
#include "library.hpp"

#include <dlfcn.h>
#include <sched.h>

#include <cerrno>
#include <cstdint>
#include <new>
#include <string>

namespace sextant::hermitian_lapack {

namespace {

#ifdef __GLIBC__
// While it lives, the calling thread may use only one processor.
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

// The library in its own namespace of the dynamic linker, with data apart from a copy that the application uses. NULL,
// with the linker's reason, where that fails; throws where memory is short.
// OpenBLAS starts a thread for every processor that it sees while it is opened, and the C library of another namespace
// ends the process where it has no memory for one: its errno is not the one that the allocator sets. It sees one.
void *open_own_copy(const char *name, std::string &why) {
#ifdef __GLIBC__
  void *handle = nullptr;
  int problem = 0;
  {
    const OnOneProcessor alone;
    errno = 0;
    handle = ::dlmopen(LM_ID_NEWLM, name, RTLD_NOW | RTLD_LOCAL);
    problem = errno;
  }
  if (handle) return handle;
  const char *reason = ::dlerror();
  if (problem == ENOMEM || problem == EMFILE || problem == ENFILE) throw std::bad_alloc();
  why = reason ? reason : "it could not be opened";
  return nullptr;
#else
  why = std::string(name) +
        " is not opened: the C library has no dlmopen, and only the application may set "
        "the threads of a shared copy";
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
