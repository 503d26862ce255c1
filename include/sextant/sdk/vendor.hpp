// SPDX-License-Identifier: BSD-3-Clause
// A vendor's library, opened when it is first needed: no plugin links cuBLAS, cuSPARSE or cuSOLVER, because opening one
// takes longer than most problems, and many machines lack some of them. Works with every host compiler.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
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

}  // namespace sextant::plugin
