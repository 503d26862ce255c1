// SPDX-License-Identifier: BSD-3-Clause
// What is loaded, what was refused, and checking a plugin.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "abi/handles.hpp"
#include "abi/sized.hpp"
#include "core/conformance/conformance.hpp"
#include "core/registry/stamps.hpp"

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

// These functions return no status. A registry that could not be made counts as empty.
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

// Every kernel in use that came from this file.
std::vector<const registry::Kernel *> kernels_from(const registry::Scope &scope, const std::string &path) {
  const std::string wanted = std::filesystem::weakly_canonical(path).string();
  std::vector<const registry::Kernel *> kernels;
  for (const registry::Kernel *kernel : scope.all_kernels())
    if (std::filesystem::weakly_canonical(kernel->plugin->path).string() == wanted) kernels.push_back(kernel);
  return kernels;
}

int32_t outcome_of(const conformance::CheckLine &line) {
  return !line.applicable ? SXT_CHECK_DECLINED : line.passed ? SXT_CHECK_PASSED : SXT_CHECK_FAILED;
}

// A case that passed reports its error as a share of the bound.
std::string sentence_of(const conformance::CheckLine &line) {
  if (!line.sentence.empty() || !line.passed || !line.applicable) return line.sentence;
  return text("error ", line.error_in_bounds, " of the bound", line.proves ? "" : "; it proves nothing");
}

// The size that the description of a case names first, such as "40 x 3000" or "n = 7"; "" where it names none.
std::string size_in(const std::string &description) {
  static constexpr std::string_view digits = "0123456789";
  const std::string_view all = description;
  const auto after_number = [all](std::size_t at) { return std::min(all.find_first_not_of(digits, at), all.size()); };
  for (std::size_t begin = 0; begin < all.size(); begin = std::max(begin + 1, after_number(begin))) {
    const std::size_t first = after_number(begin);
    const std::string_view between = first > begin ? " x " : "n = ";
    const std::size_t second = first + between.size(), end = second < all.size() ? after_number(second) : second;
    if (all.substr(first, between.size()) == between && end > second)
      return std::string(all.substr(begin, end - begin));
  }
  return "";
}

// The evidence behind the verdict on a kernel.
class Tally {
 public:
  void add(const conformance::CheckLine &line) {
    if (line.of_all) miss_ = line.miss;
    if (line.of_all && line.passed) return;
    ++(!line.applicable ? declined_ : !line.passed ? failed_ : line.proves ? proving_ : telling_nothing_);
    if (const std::string size = size_in(line.check); line.passed && line.proves && !size.empty()) sizes_.insert(size);
  }
  std::string verdict(bool failed, bool proven) const {
    const std::string others = text(declined_, " declined, ", telling_nothing_, " that any answer passes");
    if (failed) return text("failed in ", failed_, " check(s); ", proving_, " proved something, ", others);
    if (proven) return text("passed: ", proving_, " case(s)", sizes(), " prove it; ", others, worst_miss());
    return text("not proven, and not failed: no case told anything of it; ", others);
  }

 private:
  static constexpr std::size_t few_sizes = 4;  // a verdict names so many sizes, and of more the number alone

  std::string sizes() const {
    if (sizes_.empty()) return "";
    std::string named;
    for (const std::string &size : sizes_) named += (named.empty() ? "" : ", ") + size;
    const std::string count = text(" of ", sizes_.size(), sizes_.size() == 1 ? " size" : " sizes");
    return sizes_.size() > few_sizes ? count : text(count, " (", named, ")");
  }
  std::string worst_miss() const {
    return miss_ > 0 ? text("; the model's worst miss: a run took ", miss_, " times as long as predicted") : "";
  }

  int proving_ = 0, telling_nothing_ = 0, declined_ = 0, failed_ = 0;
  std::set<std::string> sizes_;  // of the cases that prove something
  double miss_ = 0;
};

// The check of one file. The outcome of each kernel takes effect, and stands in the stamp, before the next kernel is
// tried.
class FileCheck {
 public:
  FileCheck(Context &context, const char *path, bool stamps, sxt_check_line line, void *user)
      : context_(context),
        path_(path),
        mark_(conformance::device_mark(context.device().machine())),
        line_(line),
        user_(user) {
    if (stamps) contents_ = registry::stamp_of(path), stamp_ = registry::read_stamp(path);
  }
  void run();

 private:
  void check(const registry::Kernel &kernel, const registry::Scope &scope);
  void remember(const std::string &kernel, const std::string *failure);
  void forget(const std::string &kernel);

  Context &context_;
  const char *path_;
  const std::string mark_;
  const sxt_check_line line_;
  void *const user_;
  std::string contents_;  // "": nothing is stored
  registry::Stamp stamp_;
  std::string first_failure_;
  int proven_ = 0;
};

// failure NULL: the kernel passed. Results for other devices stay.
void FileCheck::remember(const std::string &kernel, const std::string *failure) {
  if (contents_.empty()) return;
  stamp_.passed[kernel].erase(mark_);
  stamp_.failed[kernel].erase(mark_);
  if (failure)
    stamp_.failed[kernel][mark_] = *failure;
  else
    stamp_.passed[kernel].insert(mark_);
  registry::write_stamp(path_, contents_, stamp_);
}

void FileCheck::forget(const std::string &kernel) {
  if (contents_.empty()) return;
  stamp_.failed[kernel].erase(mark_);
  registry::write_stamp(path_, contents_, stamp_);
}

void FileCheck::check(const registry::Kernel &kernel, const registry::Scope &scope) {
  conformance::ConformanceOptions options;
  options.threads = context_.threads();
  options.costs = true;
  const std::string unfinished = "its check was begun and did not end: it crashed, hung or was stopped";
  remember(kernel.name(), &unfinished);
  std::string failure;
  Tally tally;
  const auto note = [&](const conformance::CheckLine &each) {
    tally.add(each);
    if (each.applicable && !each.passed && failure.empty()) failure = each.check + ": " + each.sentence;
    if (line_) line_(user_, each.kernel.c_str(), each.check.c_str(), outcome_of(each), sentence_of(each).c_str());
  };
  conformance::Checked checked;
  try {
    checked = conformance::check_kernel(kernel, context_.device(), options, note, scope);
  } catch (const Error &problem) {  // the kernel could not be tested here, which proves nothing
    if (problem.status() == SXT_E_MEMORY) throw;
    note({kernel.name(), text("kind '", kernel.table.kind, "'"), false, false, false, 0, problem.what()});
    checked = {true, 0};
  }
  const bool proven = failure.empty() && checked.proven > 0;
  if (line_)
    line_(user_, kernel.name(), "verdict",
          !failure.empty() ? SXT_CHECK_FAILED
          : proven         ? SXT_CHECK_PASSED
                           : SXT_CHECK_DECLINED,
          tally.verdict(!failure.empty(), proven).c_str());
  if (!failure.empty()) {
    remember(kernel.name(), &failure);
    scope.registry().clear(kernel);
    scope.registry().quarantine(kernel, failure, context_.log());
    if (first_failure_.empty()) first_failure_ = text(kernel.name(), ", ", failure);
    return;
  }
  proven_ += checked.proven > 0;
  if (checked.proven > 0) {
    scope.registry().clear(kernel);
    remember(kernel.name(), nullptr);
    return;
  }
  forget(kernel.name());  // neither proven nor refuted: it is tested again where it is used
}

void FileCheck::run() {
  // Does not load a file again that ended its process while it was loaded.
  const std::string unfinished = "its check was begun and did not end: the process ended while it was loaded";
  remember(registry::whole_file, &unfinished);
  const registry::Scope scope = Registry::instance().extended(context_.scope(), path_, context_.log());
  forget(registry::whole_file);
  const std::vector<const registry::Kernel *> kernels = kernels_from(scope, path_);
  require(!kernels.empty(), SXT_E_PLUGIN, path_, ": none of its kernels was accepted; see the refusals");
  int checked = 0;
  for (const registry::Kernel *kernel : kernels) {
    if (std::string_view(kernel->table.device) != context_.device_name()) continue;
    ++checked;
    check(*kernel, scope);
  }
  require(checked > 0, SXT_E_DEVICE, path_, ": its kernels are for ", kernels.front()->table.device,
          ", this context is of ", context_.device_name(), "; nothing was checked");
  require(first_failure_.empty(), SXT_E_PLUGIN, path_, ": failed its kind's conformance suite: ", first_failure_);
  require(proven_ > 0, SXT_E_PLUGIN, path_, ": no case proved anything of any of its kernels");
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
    FileCheck(inner, &given(path, "path"), stamp != 0, line, user).run();
  });
}
