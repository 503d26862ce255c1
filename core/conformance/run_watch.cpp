// SPDX-License-Identifier: BSD-3-Clause
#include "core/conformance/run_watch.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cfenv>
#include <cstdint>

#include "core/base/error.hpp"

#ifdef __SSE__
#include <xmmintrin.h>
#endif

namespace sextant::conformance {
namespace {

// The counter that a process may offer: bytes printed so far by anything but itself.
using OutputCounter = std::uint64_t (*)();
OutputCounter output_counter() {
  static const auto found = reinterpret_cast<OutputCounter>(dlsym(RTLD_DEFAULT, "sxt_count_output"));
  return found;
}

#ifdef __SSE__
constexpr std::uint32_t exception_flags = 0x3f;  // any arithmetic raises them
std::uint32_t control() { return _mm_getcsr() & ~exception_flags; }
void set_control(std::uint32_t bits) { _mm_setcsr((_mm_getcsr() & exception_flags) | bits); }
#else
std::uint32_t control() { return 0; }
void set_control(std::uint32_t) {}
#endif

sigset_t blocked() {
  sigset_t set;
  sigemptyset(&set);
  pthread_sigmask(SIG_BLOCK, nullptr, &set);
  return set;
}

bool equal(const sigset_t &one, const sigset_t &other) {
  for (int signal = 1; signal < NSIG; ++signal)
    if (sigismember(&one, signal) != sigismember(&other, signal)) return false;
  return true;
}

// The locale belongs to the process: only one that is there for the check has no other threads that change it, and it
// offers a function that gives the name, after it has set another one where one is given.
using Locale = const char *(*)(const char *);
std::string locale(const char *other = nullptr) {
  static const auto found = reinterpret_cast<Locale>(dlsym(RTLD_DEFAULT, "sxt_process_locale"));
  const char *name = found ? found(other) : nullptr;
  return name ? name : "";
}

}  // namespace

std::uint64_t printed_bytes() { return output_counter() ? output_counter()() : 0; }

RunWatch::RunWatch()
    : printed_(printed_bytes()),
      rounding_(std::fegetround()),
      control_(control()),
      blocked_(blocked()),
      locale_(locale()) {}

std::string RunWatch::found() {
  std::string what;
  if (const int rounding = std::fegetround(); rounding != rounding_) {
    std::fesetround(rounding_);
    what = "run left another rounding mode behind";
  }
  if (control() != control_) {
    set_control(control_);
    if (what.empty()) what = "run left other floating-point settings behind (flushing to zero, say)";
  }
  if (!equal(blocked(), blocked_)) {
    pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
    what = "run left other signals blocked than before";
  }
  if (const std::string name = locale(); name != locale_) {
    locale(locale_.c_str());
    what = text("run left another locale behind: ", name);
  }
  if (const std::uint64_t printed = printed_bytes() - printed_; printed > 0)
    what = text("run printed ", printed, " byte(s) to standard output or standard error");
  return what;
}

}  // namespace sextant::conformance
