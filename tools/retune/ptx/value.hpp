// SPDX-License-Identifier: BSD-3-Clause
// What is known of a register: how it depends on the shape of the launch. A value is a sum of the shape's five numbers
// with constant factors, perhaps times one factor that is not known but free of the shape, and of something that does
// not depend on the shape: the linear index ctaid * ntid + tid and the stride ntid * nctaid, which a change of shape
// keeps, are counted there.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sextant::retune::ptx {

// block_start is ctaid * ntid.
enum Part { tid, ctaid, ntid, nctaid, block_start, parts };

struct Value {
  enum class Kind { unset, sum, local_address, mixed } kind = Kind::unset;
  std::array<std::int64_t, parts> factor{};
  bool constant = false;  // without factors: it is exactly `number`
  std::int64_t number = 0;
  bool scaled = false;   // the factors are multiplied by something unknown, free of the shape; number is then 0
  bool rest = false;     // something beside factors and number, free of the shape
  bool indexed = false;  // that rest comes from the linear index by arithmetic alone

  static Value free(bool indexed = false);
  static Value of(std::int64_t number);
  static Value of(Part part);
  static Value local();
  static Value lost();  // depends on the shape in a way that has no name here

  bool set() const { return kind != Kind::unset; }
  bool depends() const;  // on the shape
  bool plain() const;    // a sum without factors: may go anywhere
  Part single() const;   // the part that it is exactly; `parts` where it is none
  bool operator==(const Value &) const = default;
};

Value join(const Value &a, const Value &b);
Value sum(const Value &a, const Value &b, std::int64_t sign);
Value product(const Value &a, const Value &b);

// "%tid.x + 4": for messages.
std::string text(const Value &value);

}  // namespace sextant::retune::ptx
