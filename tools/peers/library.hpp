// SPDX-License-Identifier: BSD-3-Clause
// For peers whose library is loaded by name at run time: finding it, and its functions.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <exception>
#include <string>

#include "peer.h"

namespace peer {

// A sentence into the caller's message; returns 1, so that a peer can `return say(...)`.
inline int say(sxt_peer_message *message, const std::string &text) {
  std::snprintf(message->text, sizeof message->text, "%s", text.c_str());
  return 1;
}

// Nothing may throw into the command. make() gives a new state.
template <typename Make>
int guarded(const char *library, void **state, sxt_peer_message *message, Make make) {
  try {
    *state = make();
    return 0;
  } catch (const std::exception &error) {
    return say(message, std::string(library) + ": " + error.what());
  }
}
// work() tells whether it was done.
template <typename Work>
int guarded(Work work) {
  try {
    return !work();
  } catch (const std::exception &) {
    return 1;
  }
}

// A shared library that is never unloaded: its threads may still run.
class Library {
 public:
  // Tries each folder and its lib/. False when none has it; `tried` then lists the places and the errors.
  bool open_in(const char *const *folders, const std::string &file, std::string &tried) {
    for (; *folders && !handle_; ++folders)
      open_path(std::string(*folders) + "/" + file, tried) || open_path(std::string(*folders) + "/lib/" + file, tried);
    return handle_ != nullptr;
  }
  // A path, or a bare name for the loader's own search.
  bool open_path(const std::string &path, std::string &tried) {
    // Local: two libraries may define the same BLAS names.
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) return true;
    const char *why = dlerror();
    tried += (tried.empty() ? "" : "; ") + std::string(why ? why : path);
    return false;
  }
  // Fills a function pointer; false when the library has no such symbol.
  template <typename Function>
  bool find(Function &function, const char *name) const {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    return function != nullptr;
  }
  // The file that was opened, links and search resolved.
  std::string path() const {
    link_map *map = nullptr;
    return dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : "";
  }
  std::string folder() const { return path().substr(0, path().rfind('/')); }

 private:
  void *handle_ = nullptr;
};

}  // namespace peer
