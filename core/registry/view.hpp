// SPDX-License-Identifier: BSD-3-Clause
// What is in force of plugins that were loaded: which version of a plugin, which kernels, which kinds. Made anew from
// the whole list after every load, so that the order of files does not matter.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "core/registry/loader.hpp"

namespace sextant::registry {

struct View {
  std::uint64_t number = 0;             // no other view of the process has it
  std::vector<const Loaded *> named;    // beside the plugins of the process: by options of a context
  std::vector<const Plugin *> plugins;  // a newer version stands where the older one stood
  std::map<std::string_view, const Kernel *> kernels;
  // By kind and device, each in name order.
  std::map<std::string_view, std::map<std::string_view, std::vector<const Kernel *>>> by_kind;
  // Of the library's own plugins, also of those that another of the same name and a higher version stands for above.
  std::map<std::string_view, std::vector<const Kernel *>> own_by_kind;
  std::map<std::string_view, const Kind *> kinds;
};

// `refuse` is told of everything left out; it may be told the same again at the next call.
View make_view(const std::vector<const Loaded *> &loaded, const std::function<void(const Refusal &)> &refuse);

}  // namespace sextant::registry
