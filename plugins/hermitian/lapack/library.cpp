// SPDX-License-Identifier: BSD-3-Clause
#include "library.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <string>

namespace sextant::hermitian_lapack {

namespace {

// The library in a namespace of the dynamic linker's own: other data than a copy that the application uses. NULL, with
// the linker's reason, where that cannot be had.
void *open_own_copy(const char *name, std::string &why) {
#ifdef __GLIBC__
  void *const handle = ::dlmopen(LM_ID_NEWLM, name, RTLD_NOW | RTLD_LOCAL);
  const char *reason = handle ? "" : ::dlerror();
  why = reason ? reason : "it could not be opened";
  return handle;
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
