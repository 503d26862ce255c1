// SPDX-License-Identifier: BSD-3-Clause
#include "core/world/vector.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "core/base/types.hpp"
#include "core/operations/operations.hpp"

namespace sextant {

namespace {

bool is_sum(std::int32_t operation) {
  return operation == SXT_REDUCTION_SUM || operation == SXT_REDUCTION_DOT || operation == SXT_REDUCTION_DOTC ||
         operation == SXT_REDUCTION_ASUM;
}

// Of the value type, as sums are.
bool is_of_values(std::int32_t operation) { return is_sum(operation) && operation != SXT_REDUCTION_ASUM; }

// Two answers into one. A NaN stays one.
double joined(std::int32_t operation, double one, double other) {
  if (std::isnan(one) || std::isnan(other)) return std::numeric_limits<double>::quiet_NaN();
  switch (operation) {
    case SXT_REDUCTION_NRM2: return std::hypot(one, other);
    case SXT_REDUCTION_MIN: return std::min(one, other);
    case SXT_REDUCTION_AMAX:
    case SXT_REDUCTION_MAX: return std::max(one, other);
    default: return one + other;
  }
}

double of_nothing(std::int32_t operation) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return operation == SXT_REDUCTION_MIN ? infinity : operation == SXT_REDUCTION_MAX ? -infinity : 0;
}

// A result of the value type, or of its real type, as two numbers, and back.
std::array<double, 2> numbers_at(const void *at, sxt_value_type type, bool real) {
  return with_value_type(type, [&](auto tag) -> std::array<double, 2> {
    using T = typename decltype(tag)::type;
    if (real || !is_complex<T>) {
      decltype(std::abs(T{})) value;
      std::memcpy(&value, at, sizeof value);
      return {static_cast<double>(value), 0};
    }
    T value;
    std::memcpy(&value, at, sizeof value);
    return {static_cast<double>(std::real(value)), static_cast<double>(std::imag(value))};
  });
}

void store(const std::array<double, 2> &numbers, sxt_value_type type, bool real, void *at) {
  with_value_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using R = decltype(std::abs(T{}));
    const R parts[2] = {static_cast<R>(numbers[0]), static_cast<R>(numbers[1])};
    std::memcpy(at, parts, real || !is_complex<T> ? sizeof(R) : sizeof parts);
  });
}

// Equal where ranks reduce vectors of one type.
std::uint64_t about(std::int32_t operation, sxt_value_type type) {
  return static_cast<std::uint64_t>(operation) * 64 + static_cast<std::uint64_t>(type);
}

const void *data_of(const WorldVector *vector, std::size_t part) { return vector ? vector->parts[part].data : nullptr; }

// The first of the largest, by the numbers of the process's own values, then of all.
void largest(const char *call, const WorldVector &x, std::int64_t *index) {
  struct Found {
    double value = -1;
    std::int64_t at = -1;
    void meet(double other, std::int64_t there) {
      if (there < 0 || std::isnan(value)) return;
      if (std::isnan(other) || other > value) value = other, at = there;
    }
  };
  const std::vector<Frame> &frames = x.world->together(call, about(SXT_REDUCTION_IAMAX, x.type), [&](Frame &mine) {
    std::int64_t before = 0;
    for (std::size_t i = 0; i < x.parts.size(); ++i) {
      const WorldVector::Part &part = x.parts[i];
      std::int64_t at = -1;
      if (part.n > 0) {
        Operations &operations = Operations::of(x.world->context(i));
        operations.reduce(SXT_REDUCTION_IAMAX, x.type, part.n, part.data, nullptr, &at);
        mine.members[i].values[0] = operations.reduce_real(SXT_REDUCTION_AMAX, x.type, part.n, part.data);
      }
      mine.members[i].number = at < 0 ? -1 : before + at;
      before += part.n;
    }
    mine.numbers[0] = before;
  });
  Found all;
  std::int64_t before = 0;
  for (const Frame &frame : frames) {
    const std::int64_t length = frame.numbers[0];
    for (const Frame::OfMember &member : frame.members) {
      x.world->require_sound(length >= 0 && length <= kLargestSize - before && member.number >= -1 &&
                                 member.number < std::max(length, std::int64_t{1}),
                             "element ", member.number, " of ", length);
      all.meet(member.values[0], member.number < 0 ? -1 : before + member.number);
    }
    before += length;
  }
  *index = all.at;
}

}  // namespace

void reduce_world(const char *call, std::int32_t operation, const WorldVector &x, const WorldVector *y, void *result) {
  if (operation == SXT_REDUCTION_IAMAX) return largest(call, x, static_cast<std::int64_t *>(result));
  const bool real = !is_of_values(operation);
  const std::vector<Frame> &frames = x.world->together(call, about(operation, x.type), [&](Frame &mine) {
    for (std::size_t i = 0; i < x.parts.size(); ++i) {
      const WorldVector::Part &part = x.parts[i];
      std::complex<double> found;  // large enough for every type
      Operations::of(x.world->context(i)).reduce(operation, x.type, part.n, part.data, data_of(y, i), &found);
      const std::array<double, 2> numbers = numbers_at(&found, x.type, real);
      std::copy(numbers.begin(), numbers.end(), mine.members[i].values.begin());
    }
  });
  std::array<double, 2> all{of_nothing(operation), 0};
  each_member(frames, [&](const Frame::OfMember &member) {
    for (std::size_t k = 0; k < 2; ++k) all[k] = joined(operation, all[k], member.values[k]);
  });
  store(all, x.type, real, result);
}

void multidot_world(std::int32_t count, const WorldVector *const *x, const WorldVector *const *y, void *results) {
  const WorldVector &first = *x[0];
  const auto width = static_cast<std::size_t>(value_bytes(first.type));
  const auto pairs = static_cast<std::size_t>(count);
  const std::vector<Frame> &frames = first.world->together("sxt_multidot", about(count, first.type), [&](Frame &mine) {
    for (std::size_t i = 0; i < first.parts.size(); ++i) {
      std::array<const void *, SXT_MULTIDOT_MAX> u{}, v{};
      for (std::size_t k = 0; k < pairs; ++k) u[k] = x[k]->parts[i].data, v[k] = y[k]->parts[i].data;
      std::array<std::complex<double>, SXT_MULTIDOT_MAX> found{};
      Operations::of(first.world->context(i))
          .multidot(first.type, first.parts[i].n, count, u.data(), v.data(), found.data());
      for (std::size_t k = 0; k < pairs; ++k) {
        const auto numbers = numbers_at(reinterpret_cast<const char *>(found.data()) + k * width, first.type, false);
        mine.members[i].values[2 * k] = numbers[0], mine.members[i].values[2 * k + 1] = numbers[1];
      }
    }
  });
  for (std::size_t k = 0; k < pairs; ++k) {
    std::array<double, 2> all{};
    each_member(frames, [&](const Frame::OfMember &member) {
      all[0] += member.values[2 * k], all[1] += member.values[2 * k + 1];
    });
    store(all, first.type, false, static_cast<char *>(results) + k * width);
  }
}

}  // namespace sextant
