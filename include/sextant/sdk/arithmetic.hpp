// SPDX-License-Identifier: BSD-3-Clause
// The calling thread's floating-point control: rounding, flushing of subnormal numbers, masks. Header-only, no part of
// the ABI; a few instructions a call.
#pragma once

namespace sextant::plugin {

// Without the flags of exceptions, which any computation may raise. On processors that are not known here it holds
// nothing, and all compare equal.
struct FloatControl {
  unsigned long unit = 0;  // MXCSR, FPCR
  unsigned short x87 = 0;
  bool operator==(const FloatControl &) const = default;
};

#if defined(__x86_64__)
inline constexpr unsigned long float_flags = 0x3f;
// Round to nearest, nothing flushed, no traps.
inline constexpr FloatControl nearest_control{0x1f80, 0x037f};

inline FloatControl float_control() noexcept {
  unsigned unit = 0;
  unsigned short x87 = 0;
  __asm__ volatile("stmxcsr %0" : "=m"(unit));
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  return {unit & ~float_flags, x87};
}
inline void set_float_control(const FloatControl &to) noexcept {
  unsigned unit = 0;
  __asm__ volatile("stmxcsr %0" : "=m"(unit));
  unit = static_cast<unsigned>((unit & float_flags) | to.unit);
  __asm__ volatile("ldmxcsr %0" : : "m"(unit) : "memory");
  __asm__ volatile("fldcw %0" : : "m"(to.x87) : "memory");
}
#elif defined(__aarch64__)
inline constexpr FloatControl nearest_control{};

inline FloatControl float_control() noexcept {
  unsigned long unit = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(unit));
  return {unit, 0};
}
inline void set_float_control(const FloatControl &to) noexcept {
  __asm__ volatile("msr fpcr, %0" : : "r"(to.unit) : "memory");
}
#else
inline constexpr FloatControl nearest_control{};
inline FloatControl float_control() noexcept { return {}; }
inline void set_float_control(const FloatControl &) noexcept {}
#endif

// Puts back what was there when it was made.
class FloatKeeper {
 public:
  FloatKeeper() noexcept : before_(float_control()) {}
  ~FloatKeeper() { restore(); }
  FloatKeeper(const FloatKeeper &) = delete;
  FloatKeeper &operator=(const FloatKeeper &) = delete;
  // Whether it was changed.
  bool restore() const noexcept {
    if (float_control() == before_) return false;
    set_float_control(before_);
    return true;
  }

 private:
  const FloatControl before_;
};

// While it lives the calling thread computes so.
class FloatScope {
 public:
  explicit FloatScope(const FloatControl &wanted) noexcept {
    if (!(float_control() == wanted)) set_float_control(wanted);
  }

 private:
  const FloatKeeper before_;
};

}  // namespace sextant::plugin
