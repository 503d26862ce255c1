// SPDX-License-Identifier: BSD-3-Clause
// Vectors: values on the context's device, or memory of the caller's used where it lies. Part of sextant/sextant.hpp.
#ifndef SEXTANT_CPP_VECTOR_HPP
#define SEXTANT_CPP_VECTOR_HPP

#include <new>
#include <vector>

#include "sextant/cpp/arrays.hpp"
#include "sextant/cpp/context.hpp"

namespace sextant {
inline namespace cpp {

class World;

/// A number for vectors of any type: it is rounded to theirs. An imaginary part for real vectors is SXT_E_TYPE.
class Scalar {
 public:
  /// A real number.
  Scalar(double real) : value_(real) {}
  /// A complex number.
  Scalar(std::complex<double> value) : value_(value) {}
  /// A complex number.
  Scalar(std::complex<float> value) : value_(value) {}

  /// The number as a call of the C interface reads it.
  struct Stored {
    alignas(16) unsigned char bytes[16];  ///< In the type that was named.
  };
  /// Whether it is 0.
  bool is_zero() const noexcept { return value_ == 0.0; }
  /// In a value type of the library.
  Stored as(sxt_value_type type) const {
    const bool real = type == SXT_F32 || type == SXT_F64;
    detail::require(!real || value_.imag() == 0, SXT_E_TYPE, "the scalar has an imaginary part, but the type is ",
                    value_type_name(type));
    Stored stored{};
    if (type == SXT_F32) new (stored.bytes) float(static_cast<float>(value_.real()));
    if (type == SXT_F64) new (stored.bytes) double(value_.real());
    if (type == SXT_C64) new (stored.bytes) std::complex<float>(value_);
    if (type == SXT_C128) new (stored.bytes) std::complex<double>(value_);
    return stored;
  }

 private:
  std::complex<double> value_;
};

/// n values of one type on a device, or on the host.
class Vector : public detail::Object<sxt_vector, sxt_vector_destroy> {
 public:
  /// n zeros in the context's device space. [any-thread]
  template <Value T>
  static Vector zeros(const Context &context, std::int64_t n) {
    return Vector(context, value_type_of<T>,
                  [&](sxt_vector **made) { return sxt_vector_create(context.get(), n, value_type_of<T>, made); });
  }
  /// A copy of host values in the context's device space. [any-thread]
  template <Array A>
  static Vector copy_of(const Context &context, const A &values) {
    Vector vector = zeros<detail::value_of<A>>(context, detail::size_of(values));
    vector.write(values);
    return vector;
  }
  /// Uses memory where it lies; it stays the caller's and must outlive the vector. The span may be of memory that only
  /// the device reaches. [any-thread]
  template <Value T>
  requires(!std::is_const_v<T>) static Vector
      wrap(const Context &context, std::span<T> memory, sxt_space space = SXT_SPACE_HOST) {
    return Vector(context, value_type_of<T>, [&](sxt_vector **made) {
      return sxt_vector_wrap(context.get(), static_cast<std::int64_t>(memory.size()), value_type_of<T>, space,
                             memory.data(), made);
    });
  }
  /// The same of an array that has a name.
  template <WritableArray A>
  static Vector wrap(const Context &context, A &array, sxt_space space = SXT_SPACE_HOST) {
    return wrap(context, std::span<detail::element_of<A>>(detail::span_of(array)), space);
  }

  /// Takes size() host values of the vector's type. It waits. [exclusive]
  template <Array A>
  void write(const A &values) {
    require_like(values, "values");
    check(sxt_vector_write(get(), detail::span_of(values).data()));
  }
  /// Gives size() values to host memory. It waits. [any-thread]
  template <WritableArray A>
  void read(A &&values) const {
    require_like(values, "values");
    check(sxt_vector_read(get(), detail::span_of(values).data()));
  }
  /// The values. [any-thread]
  template <Value T>
  std::vector<T> to_host() const {
    std::vector<T> values(static_cast<std::size_t>(size()));
    read(values);
    return values;
  }
  /// Number of values. [any-thread]
  std::int64_t size() const noexcept { return sxt_vector_length(get()); }
  /// SXT_F64 and the like. [any-thread]
  sxt_value_type value_type() const noexcept { return type_; }
  /// Where the values lie, perhaps in memory that only the device reaches. SXT_E_TYPE where T is not their type,
  /// SXT_E_NOT_SUPPORTED where they lie with several members of a world. [any-thread]
  template <Value T>
  std::span<T> data() const {
    detail::require_type("data()", value_type_of<T>, type_);
    void *const memory = sxt_vector_data(get());
    detail::require(memory || size() == 0, SXT_E_NOT_SUPPORTED, "data(): the values lie with several members");
    return {static_cast<T *>(memory), static_cast<std::size_t>(size())};
  }

 private:
  friend class World;
  // owner: a context, or a world.
  template <class Owner, class Make>
  Vector(const Owner &owner, sxt_value_type type, Make how) : Object(log_of(owner)), type_(type) {
    make(how);
  }
  template <class A>
  void require_like(const A &values, const char *name) const {
    detail::require_type(name, value_type_of<detail::element_of<const A>>, type_);
    detail::require_size(name, detail::size_of(values), size(), "the vector's");
  }

  sxt_value_type type_;
};

}  // namespace cpp
}  // namespace sextant
#endif
