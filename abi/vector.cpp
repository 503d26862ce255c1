// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <cstring>

#include "abi/handles.hpp"
#include "core/base/aligned.hpp"
#include "core/operations/operations.hpp"

using namespace sextant;
using namespace sextant::abi;

namespace {

std::uint64_t bytes_of(int64_t n, sxt_value_type type) {
  const std::int64_t each =
      with_value_type(type, [](auto tag) { return static_cast<std::int64_t>(sizeof(typename decltype(tag)::type)); });
  require(n >= 0, SXT_E_ARGUMENT, "n is negative (", n, ")");
  require(n <= INT64_MAX / each, SXT_E_OVERFLOW, n, " values of ", each, " bytes do not fit the address space");
  return static_cast<std::uint64_t>(n * each);
}

// Calls f(context, data, bytes, at) for each part of a vector. `at`: where the part begins in the whole, in bytes.
template <class F>
void each_part(const sxt_vector &vector, F &&f) {
  if (!vector.world) return f(*vector.context, vector.data, bytes_of(vector.n, vector.type), std::uint64_t{0});
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < vector.world->parts.size(); ++i) {
    const WorldVector::Part &part = vector.world->parts[i];
    const std::uint64_t bytes = bytes_of(part.n, vector.type);
    f(vector.world->world->context(i), part.data, bytes, at);
    at += bytes;
  }
}

}  // namespace

void abi::check_wrapped(const Context &context, const void *data, std::uint64_t bytes, sxt_value_type type,
                        sxt_space space) {
  const std::int64_t n = static_cast<std::int64_t>(bytes) / value_bytes(type);
  require(data != nullptr || n == 0, SXT_E_ARGUMENT, "data is NULL but n is ", n);
  require(space >= SXT_SPACE_HOST && space <= SXT_SPACE_MANAGED, SXT_E_ARGUMENT, "space ", space,
          " is not an sxt_space");
  require(space != SXT_SPACE_DEVICE || !context.device().on_host(), SXT_E_ARGUMENT,
          "device memory was given to a context of the CPU");
  require(space != SXT_SPACE_HOST || context.device().on_host(), SXT_E_NOT_SUPPORTED,
          "host memory cannot be wrapped in a context of ", context.device_name(), "; copy it to the device first");
  require(bytes <= UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(data), SXT_E_OVERFLOW, n,
          " values at data run over the end of the address space");
  require_aligned(data, context.device().on_host() ? value_alignment(type) : value_bytes(type), "data");
  if (n > 0) context.device().check_reachable(data, space, "data");
}

sxt_status sxt_vector_wrap(sxt_context *context, int64_t n, sxt_value_type type, sxt_space space, void *data,
                           sxt_vector **vector) {
  return guarded(id_of(context), [&] {
    const std::shared_ptr<Context> &inner = given(context, "context").context;
    given(vector, "vector");
    const std::uint64_t bytes = bytes_of(n, type);
    check_wrapped(*inner, data, bytes, type, space);
    *vector = new sxt_vector{inner, n, type, data, {}};
  });
}

sxt_status sxt_vector_create(sxt_context *context, int64_t n, sxt_value_type type, sxt_vector **vector) {
  return guarded(id_of(context), [&] {
    const std::shared_ptr<Context> &inner = given(context, "context").context;
    given(vector, "vector");
    auto made = std::make_unique<sxt_vector>(
        sxt_vector{inner, n, type, nullptr, DeviceBuffer(inner->device(), bytes_of(n, type))});
    made->data = made->owned.data();
    static constexpr double zeros[2] = {0, 0};
    Operations::of(*inner).vector(
        {.operation = SXT_VECTOR_FILL, .type = type, .n = n, .alpha = zeros, .y = made->data});
    *vector = made.release();
  });
}

sxt_status sxt_vector_write(sxt_vector *vector, const void *values) {
  return guarded(id_of(vector), [&] {
    given(vector, "vector");
    require(values || vector->n == 0, SXT_E_ARGUMENT, "values is NULL but the vector has ", vector->n);
    require_aligned(values, value_alignment(vector->type), "values");
    each_part(*vector, [&](Context &context, void *data, std::uint64_t bytes, std::uint64_t at) {
      context.device().copy(data, static_cast<const char *>(values) + at, bytes);
    });
  });
}

sxt_status sxt_vector_read(const sxt_vector *vector, void *values) {
  return guarded(id_of(vector), [&] {
    given(vector, "vector");
    require(values || vector->n == 0, SXT_E_ARGUMENT, "values is NULL but the vector has ", vector->n);
    require_aligned(values, value_alignment(vector->type), "values");
    each_part(*vector, [&](Context &context, const void *data, std::uint64_t bytes, std::uint64_t at) {
      context.device().copy(static_cast<char *>(values) + at, data, bytes);
    });
  });
}

void *sxt_vector_data(const sxt_vector *vector) { return vector ? vector->data : nullptr; }
int64_t sxt_vector_length(const sxt_vector *vector) { return vector ? vector->n : 0; }
void sxt_vector_destroy(sxt_vector *vector) { destroy(vector); }
