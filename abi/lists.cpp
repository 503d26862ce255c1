// SPDX-License-Identifier: BSD-3-Clause
// What is loaded, what was refused, and checking a plugin.
#include <filesystem>

#include "abi/handles.hpp"
#include "abi/sized.hpp"
#include "core/registry/conformance.hpp"

using namespace sextant;
using namespace sextant::abi;
using registry::Registry;

namespace {

template <class T>
const T &at(const std::vector<const T *> &list, int64_t i, const char *what) {
  require(i >= 0 && i < static_cast<int64_t>(list.size()), SXT_E_INDEX, "there is no ", what, " ", i, "; there are ",
          list.size());
  return *list[static_cast<std::size_t>(i)];
}

// These have no status to tell of a registry that could not be made: it then holds nothing.
int64_t counted(std::size_t (Registry::*count)() const) noexcept {
  int64_t found = 0;
  guarded(0, [&] { found = static_cast<int64_t>((Registry::instance().*count)()); });
  return found;
}

sxt_plugin_info info_of(const registry::Plugin &plugin) {
  return {sizeof(sxt_plugin_info), plugin.name.c_str(), plugin.version.c_str(), plugin.vendor.c_str(),
          plugin.license.c_str(),  plugin.path.c_str(), plugin.kernels};
}

sxt_kernel_info info_of(const registry::Kernel &kernel) {
  const sxt_kernel &table = kernel.table;
  return {sizeof(sxt_kernel_info),
          table.name,
          table.kind,
          table.device,
          table.description ? table.description : "",
          kernel.plugin->name.c_str(),
          table.version,
          kernel.has(SXT_KERNEL_DETERMINISTIC),
          kernel.has(SXT_KERNEL_CAPTURABLE),
          kernel.has(SXT_KERNEL_REFERENCE),
          kernel.verdict == registry::Verdict::quarantined};
}

sxt_refusal_info info_of(const registry::Refusal &refusal) {
  return {sizeof(sxt_refusal_info), refusal.path.c_str(), refusal.stage.c_str(), refusal.reason.c_str()};
}

// Every kernel that came from this file.
std::vector<const registry::Kernel *> kernels_from(const std::string &path) {
  const std::string wanted = std::filesystem::weakly_canonical(path).string();
  std::vector<const registry::Kernel *> kernels;
  for (const registry::Kernel *kernel : Registry::instance().all_kernels())
    if (std::filesystem::weakly_canonical(kernel->plugin->path).string() == wanted) kernels.push_back(kernel);
  return kernels;
}

int32_t outcome_of(const registry::CheckLine &line) {
  return !line.applicable ? SXT_CHECK_DECLINED : line.passed ? SXT_CHECK_PASSED : SXT_CHECK_FAILED;
}

// A case that passed says by how much.
std::string sentence_of(const registry::CheckLine &line) {
  if (!line.sentence.empty() || !line.passed || !line.applicable) return line.sentence;
  return text("error ", line.error_in_bounds, " of the bound");
}

}  // namespace

int64_t sxt_plugin_count(void) { return counted(&Registry::plugin_count); }
int64_t sxt_kernel_count(void) { return counted(&Registry::kernel_count); }
int64_t sxt_refusal_count(void) { return counted(&Registry::refusal_count); }

sxt_status sxt_plugin_get(int64_t i, sxt_plugin_info *info) {
  return guarded(0, [&] {
    check_sized(info, "info");
    answer_sized(info, info_of(at(Registry::instance().plugins(), i, "plugin")), "info");
  });
}

sxt_status sxt_kernel_get(int64_t i, sxt_kernel_info *info) {
  return guarded(0, [&] {
    check_sized(info, "info");
    answer_sized(info, info_of(at(Registry::instance().all_kernels(), i, "kernel")), "info");
  });
}

sxt_status sxt_refusal_get(int64_t i, sxt_refusal_info *info) {
  return guarded(0, [&] {
    check_sized(info, "info");
    answer_sized(info, info_of(at(Registry::instance().refusals(), i, "refusal")), "info");
  });
}

sxt_status sxt_plugin_check(sxt_context *context, const char *path, int32_t stamp, sxt_check_line line, void *user) {
  return guarded(id_of(context), [&] {
    Context &inner = *given(context, "context").context;
    const std::string contents = stamp ? registry::stamp_of(&given(path, "path")) : "";
    Registry::instance().load_path(&given(path, "path"), inner.log());
    const std::vector<const registry::Kernel *> kernels = kernels_from(path);
    require(!kernels.empty(), SXT_E_PLUGIN, path, ": none of its kernels was accepted; see the refusals");
    bool good = true;
    int checked = 0;
    for (const registry::Kernel *kernel : kernels) {
      if (std::string_view(kernel->table.device) != inner.device_name()) continue;
      ++checked;
      registry::ConformanceOptions options;
      options.threads = inner.threads();
      good &= registry::check_kernel(*kernel, inner.device(), options, [&](const registry::CheckLine &each) {
        if (line) line(user, each.kernel.c_str(), each.check.c_str(), outcome_of(each), sentence_of(each).c_str());
      });
    }
    require(checked > 0, SXT_E_DEVICE, path, ": its kernels are for ", kernels.front()->table.device,
            ", this context is of ", inner.device_name(), "; nothing was checked");
    require(good, SXT_E_PLUGIN, path, ": failed its kind's conformance suite");
    if (stamp) registry::write_stamp(path, contents);
  });
}
