// SPDX-License-Identifier: BSD-3-Clause
// A vendor's library, opened when it is first needed: no plugin links cuBLAS, cuSPARSE or cuSOLVER, because opening one
// takes longer than most problems, and many machines lack some of them. Works with every host compiler.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin {

class VendorLibrary {
 public:
  // The first of these names that opens; otherwise why() has the loader's message for the last one. Throws
  // std::bad_alloc where memory was missing: a static that holds the library is then created again at the next use.
  template <std::size_t N>
  explicit VendorLibrary(const char *const (&names)[N]) {
    for (const char *name : names) {
      if (handle_) break;
      handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
      const char *reason = handle_ ? "" : ::dlerror();
      if (reason && std::strstr(reason, "annot allocate memory")) throw std::bad_alloc();
      why_ = reason ? reason : "it could not be opened";
    }
  }

  bool is_open() const { return handle_ && why_.empty(); }
  const char *why() const { return why_.c_str(); }

  // The function `name` for each of f32, f64, c64, c128: "%" in it stands for the letter S, D, C or Z.
  template <class F>
  void find_types(F *(&functions)[4], const char *name) {
    const char letters[] = {'S', 'D', 'C', 'Z'};
    for (int i = 0; i < 4; ++i) {
      std::string own = name;
      own.replace(own.find('%'), 1, 1, letters[i]);
      find(functions[i], own.c_str());
    }
  }

  // A function by name; one that is missing closes the library for use: why() names it.
  template <class F>
  void find(F *&function, const char *name) {
    function = handle_ ? reinterpret_cast<F *>(::dlsym(handle_, name)) : nullptr;
    if (!function && why_.empty()) why_ = std::string("it has no function ") + name;
  }

 private:
  void *handle_ = nullptr;  // never closed: other users of the process may hold its objects
  std::string why_;
};

// For a Library that makes handles: a VendorLibrary with the members `Handle` (a type), `title`, `success`, `no_memory`
// (statuses of its functions), instance(), and the functions create and destroy.

// SXT_OK, or an error that says why the library is not there.
template <class Library>
sxt_status vendor_opened(const sxt_exec *exec) {
  if (Library::instance().is_open()) return SXT_OK;
  return error(exec, SXT_E_NOT_SUPPORTED, "%s cannot be used: %s", Library::title, Library::instance().why());
}

// The status of one of its functions, which was called to `step`.
template <class Library, class Status>
sxt_status vendor_checked(const sxt_exec *exec, Status status, const char *step) {
  if (status == Library::success) return SXT_OK;
  return error(exec, status == Library::no_memory ? SXT_E_MEMORY : SXT_E_DEVICE, "%s could not %s: status %d",
               Library::title, step, static_cast<int>(status));
}

// A kernel's session that is one handle, and the kernel's open.
template <class Library>
struct VendorSession {
  typename Library::Handle handle = nullptr;
  ~VendorSession() {
    if (handle) Library::instance().destroy(handle);
  }
  static sxt_status open(const void *, const sxt_filled *, const sxt_exec *exec, void **out) {
    return guard(exec, [&] {
      auto session = std::make_unique<VendorSession>();
      const sxt_status status =
          vendor_checked<Library>(exec, Library::instance().create(&session->handle), "make a handle");
      return status == SXT_OK ? give(session.release(), out) : status;
    });
  }
};

}  // namespace sextant::plugin
