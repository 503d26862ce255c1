// SPDX-License-Identifier: BSD-3-Clause
// Helpers for authors of kernels in C++: type dispatch, messages, exception guard, sessions and states as classes.
// Header-only, no part of the ABI; a plugin may use any part of it.
#pragma once

#include <cmath>
#include <complex>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

#include "sextant/plugin/plugin.h"

namespace sextant::plugin {

template <class T>
struct Tag {
  using type = T;
};

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using real_of = typename RealOf<T>::type;

template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, real_of<T>>;

inline constexpr std::uint32_t type_bit(sxt_value_type type) { return 1u << type; }
inline constexpr std::uint32_t all_value_types =
    type_bit(SXT_F32) | type_bit(SXT_F64) | type_bit(SXT_C64) | type_bit(SXT_C128);

inline std::uint64_t value_bytes(sxt_value_type type) { return type == SXT_F32 ? 4 : type == SXT_C128 ? 16 : 8; }
inline std::uint64_t index_bytes(sxt_index_type type) { return type == SXT_I32 ? 4 : 8; }

// Calls f(Tag<T>{}); SXT_E_TYPE for a code that is no value type.
template <class F>
sxt_status with_value_type(sxt_value_type type, F &&f) {
  switch (type) {
    case SXT_F32: return f(Tag<float>{});
    case SXT_F64: return f(Tag<double>{});
    case SXT_C64: return f(Tag<std::complex<float>>{});
    case SXT_C128: return f(Tag<std::complex<double>>{});
    default: return SXT_E_TYPE;
  }
}

template <class F>
sxt_status with_index_type(sxt_index_type type, F &&f) {
  switch (type) {
    case SXT_I32: return f(Tag<std::int32_t>{});
    case SXT_I64: return f(Tag<std::int64_t>{});
    default: return SXT_E_TYPE;
  }
}

template <class T>
T conjugate(T value) {
  if constexpr (is_complex<T>)
    return std::conj(value);
  else
    return value;
}

inline const char *value_name(sxt_value_type type) {
  switch (type) {
#define SXT_X(name, value, text, bytes) \
  case value: return text;
    SXT_VALUE_TABLE(SXT_X)
#undef SXT_X
    default: return "unknown";
  }
}

// Calls f(Tag<V>{}, Tag<M>{}) for vectors of V over a matrix stored as M: the same type, or M of half the precision.
template <class F>
sxt_status with_matrix_types(sxt_value_type value, sxt_value_type matrix, F &&f) {
  if (value == SXT_F64 && matrix == SXT_F32) return f(Tag<double>{}, Tag<float>{});
  if (value == SXT_C128 && matrix == SXT_C64) return f(Tag<std::complex<double>>{}, Tag<std::complex<float>>{});
  if (value != matrix) return SXT_E_TYPE;
  return with_value_type(value, [&](auto tag) { return f(tag, tag); });
}

// a * b by the plain formula: the language's complex product checks for NaN and may call a function.
template <class T>
T product(T a, T b) {
  if constexpr (is_complex<T>)
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  else
    return a * b;
}

// |re| + |im|, the magnitude of asum and amax.
template <class T>
real_of<T> abs1(T a) {
  if constexpr (is_complex<T>)
    return std::abs(a.real()) + std::abs(a.imag());
  else
    return std::abs(a);
}

// Feature i in the kernel's own list; NaN when there is none.
inline double feature(const sxt_features *features, std::uint64_t i) {
  return features && i < features->count ? features->values[i] : std::numeric_limits<double>::quiet_NaN();
}

// The query, args or storage that a head introduces.
template <class T>
const T &as(const sxt_head *head) {
  return *reinterpret_cast<const T *>(head);
}
template <class T>
const T &as(const sxt_query *query) {
  return *reinterpret_cast<const T *>(query);
}

inline bool is_kind(const sxt_head &head, const char *kind) { return std::strcmp(head.kind, kind) == 0; }

// A scalar of host memory; absent means `otherwise`.
template <class T>
T scalar(const sxt_scalar &s, T otherwise) {
  return s.value ? *static_cast<const T *>(s.value) : otherwise;
}

// Writes a reason and returns SXT_NOT_APPLICABLE: return refuse(reason, "n = %lld is above %d", ...);
__attribute__((format(printf, 2, 3))) inline sxt_status refuse(sxt_message *message, const char *format, ...) {
  if (message && message->text && message->capacity) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message->text, message->capacity, format, arguments);
    va_end(arguments);
  }
  return SXT_NOT_APPLICABLE;
}

inline sxt_status refuse_types(sxt_value_type value, sxt_value_type matrix, sxt_message *reason) {
  return refuse(reason, "a matrix of type %s with vectors of type %s is not offered", value_name(matrix),
                value_name(value));
}
// SXT_OK for a pair that with_matrix_types knows.
inline sxt_status check_matrix_types(sxt_value_type value, sxt_value_type matrix, sxt_message *reason) {
  const auto known = [](auto, auto) { return SXT_OK; };
  return with_matrix_types(value, matrix, known) == SXT_OK ? SXT_OK : refuse_types(value, matrix, reason);
}

// Attaches a sentence to the call and returns the status: return error(exec, SXT_E_DIAGONAL, "row %lld ...", ...);
__attribute__((format(printf, 3, 4))) inline sxt_status error(const sxt_exec *exec, sxt_status status,
                                                              const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (exec && exec->host && exec->host->set_error) exec->host->set_error(exec->host, exec, text);
  return status;
}

// Runs f and turns exceptions into statuses; for every function of the ABI that may throw inside.
template <class F>
sxt_status guard(const sxt_exec *exec, F &&f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc &) {
    return error(exec, SXT_E_MEMORY, "the plugin ran out of memory");
  } catch (const std::exception &problem) {
    return error(exec, SXT_E_INTERNAL, "the plugin failed: %s", problem.what());
  } catch (...) {
    return error(exec, SXT_E_INTERNAL, "the plugin failed with an unknown exception");
  }
}

// Returns a new object as a state or session, and frees it.
template <class T>
sxt_status give(T *object, void **out) {
  return *out = object, SXT_OK;
}
template <class T>
void destroy(void *object) {
  delete static_cast<T *>(object);
}

// Fills out[0 .. count) and respects the capacity: CandidateList list(out, capacity, count); list.add() = {...};
class CandidateList {
 public:
  CandidateList(sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count)
      : out_(out), capacity_(capacity), count_(count) {
    *count_ = 0;
  }
  // A zeroed candidate to fill; beyond the capacity it is counted but not stored.
  sxt_candidate &add() {
    sxt_candidate &slot = *count_ < capacity_ ? out_[*count_] : spare_;
    ++*count_;
    return slot = sxt_candidate{};
  }

 private:
  sxt_candidate *out_;
  std::uint64_t capacity_;
  std::uint64_t *count_;
  sxt_candidate spare_{};
};

// Memory from the host's allocator, freed with the object. Throws std::bad_alloc when there is none left.
class Memory {
 public:
  Memory() = default;
  Memory(const sxt_exec *exec, sxt_space space, std::uint64_t bytes) : space_(space) {
    exec_.host = exec->host;
    exec_.device = exec->device;
    if (bytes && !(data_ = exec->host->alloc(exec->host, exec, space, bytes, 64))) throw std::bad_alloc();
  }
  Memory(Memory &&other) noexcept { swap(other); }
  Memory &operator=(Memory &&other) noexcept { return swap(other), *this; }
  ~Memory() {
    if (data_) exec_.host->free(exec_.host, &exec_, space_, data_);
  }
  void *data() const { return data_; }
  template <class T>
  T *as() const {
    return static_cast<T *>(data_);
  }

 private:
  void swap(Memory &other) noexcept {
    std::swap(exec_, other.exec_), std::swap(space_, other.space_), std::swap(data_, other.data_);
  }
  sxt_exec exec_{};  // needed by free: release gets no exec
  sxt_space space_ = SXT_SPACE_HOST;
  void *data_ = nullptr;
};

// A kernel table with the required members; the rest is set member by member.
inline sxt_kernel new_kernel(const char *kind, const char *name, const char *device, const char *description,
                             sxt_status (*run)(const void *, void *, const sxt_head *, const sxt_exec *)) {
  sxt_kernel kernel{};
  kernel.struct_size = sizeof(sxt_kernel);
  kernel.kind = kind;
  kernel.name = name;
  kernel.device = device;
  kernel.description = description;
  kernel.version = 1;
  kernel.run = run;
  return kernel;
}

inline sxt_kind new_kind(const char *id, const char *description) {
  sxt_kind kind{};
  kind.struct_size = sizeof(sxt_kind);
  kind.id = id;
  kind.description = description;
  return kind;
}

// The description that a plugin returns: kernels and kinds are arrays of pointers that live as long as the process.
// Version, vendor and license are those of this tree: a third-party plugin overwrites them.
template <std::size_t N>
sxt_plugin describe(const char *name, const sxt_kernel *const (&kernels)[N], const sxt_kind *const *kinds = nullptr,
                    std::uint64_t n_kinds = 0) {
  sxt_plugin plugin{};
  plugin.magic = SXT_PLUGIN_MAGIC;
  plugin.abi_major = SXT_PLUGIN_ABI_MAJOR;
  plugin.abi_minor = plugin.min_host_minor = SXT_PLUGIN_ABI_MINOR;
  plugin.struct_size = sizeof(sxt_plugin);
  plugin.name = name;
  plugin.version = "0.1.0";
  plugin.vendor = "Sextant";
  plugin.license = "BSD-3-Clause";
  plugin.n_kernels = N;
  plugin.kernels = kernels;
  plugin.n_kinds = n_kinds;
  plugin.kinds = kinds;
  return plugin;
}

// Splits an exec's scratch: the front for the composed kernel itself, what follows for its parts.
inline sxt_exec after_scratch(const sxt_exec &exec, std::uint64_t used) {
  sxt_exec rest = exec;
  const std::uint64_t step = (used + 255) / 256 * 256;
  rest.scratch = static_cast<char *>(exec.scratch) + (step < exec.scratch_bytes ? step : exec.scratch_bytes);
  rest.scratch_bytes = step < exec.scratch_bytes ? exec.scratch_bytes - step : 0;
  return rest;
}

// Runs a bound part.
inline sxt_status run(const sxt_bound &part, const sxt_head &args, const sxt_exec &exec) {
  return part.run(part.state, part.session, &args, &exec);
}

// The head of a struct T of this kind.
template <class T>
sxt_head head(const char *kind) {
  return {sizeof(T), kind};
}

}  // namespace sextant::plugin
