// SPDX-License-Identifier: BSD-3-Clause
// The library itself: its version, and what plugins it has loaded. Part of sextant/sextant.hpp.
#ifndef SEXTANT_CPP_LIBRARY_HPP
#define SEXTANT_CPP_LIBRARY_HPP

#include <vector>

#include "sextant/cpp/context.hpp"

namespace sextant {
inline namespace cpp {

/// Of the running library, which may be newer than these headers.
struct Version {
  std::int32_t major = 0;  ///< First number.
  std::int32_t minor = 0;  ///< Second number.
  std::int32_t patch = 0;  ///< Third number.
};
/// The version of the running library. [any-thread]
inline Version version() noexcept {
  Version version;
  sxt_version(&version.major, &version.minor, &version.patch);
  return version;
}
/// "0.1.0"; static. [any-thread]
inline std::string_view version_string() noexcept { return sxt_version_string(); }

namespace detail {

// All records of one kind; more may be added by other threads meanwhile.
template <class Info>
std::vector<Info> records(std::int64_t (*count)(), sxt_status (*get)(std::int64_t, Info *)) {
  std::vector<Info> all(static_cast<std::size_t>(count()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].struct_size = sizeof(Info);
    check(get(static_cast<std::int64_t>(i), &all[i]));
  }
  return all;
}

}  // namespace detail

/// The loaded plugins; empty before the first context. Strings live as long as the process. [any-thread]
inline std::vector<sxt_plugin_info> plugins() { return detail::records(sxt_plugin_count, sxt_plugin_get); }
/// The loaded kernels. [any-thread]
inline std::vector<sxt_kernel_info> kernels() { return detail::records(sxt_kernel_count, sxt_kernel_get); }
/// Files and kernels that were refused, and why. [any-thread]
inline std::vector<sxt_refusal_info> refusals() { return detail::records(sxt_refusal_count, sxt_refusal_get); }

/// One line of a check: a kernel, a case, SXT_CHECK_PASSED and the like, and a sentence.
using CheckLine = std::function<void(std::string_view kernel, std::string_view check, std::int32_t outcome,
                                     std::string_view sentence)>;
/// Loads one plugin and runs the conformance suite of its kinds in this process, as sxt_plugin_check. After `line`
/// throws it is not called again, and the exception is thrown when the suite has ended. [any-thread]
inline void check_plugin(const Context &context, const std::string &path, bool stamp = false,
                         const CheckLine &line = {}) {
  struct Listener {
    const CheckLine *line;
    detail::Kept kept;
    static void call(void *user, const char *kernel, const char *check, std::int32_t outcome,
                     const char *sentence) noexcept {
      auto &self = *static_cast<Listener *>(user);
      self.kept.run([&] { return (*self.line)(kernel, check, outcome, sentence), Continue::yes; });
    }
  } listener{&line, {}};
  const sxt_status status =
      sxt_plugin_check(context.get(), path.c_str(), stamp ? 1 : 0, line ? Listener::call : nullptr, &listener);
  listener.kept.rethrow();
  context.check(status);
}

}  // namespace cpp
}  // namespace sextant
#endif
