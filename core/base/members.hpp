// SPDX-License-Identifier: BSD-3-Clause
// Where the members of a plain struct end, found from the struct itself, so that no list has to be kept. A struct that
// begins with its size may be shorter than ours, of an older header, but never end inside a member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace sextant {

namespace detail {

// Stands for a member of any type while members are counted.
struct AnyMember {
  template <class T>
  operator T() const;
};

// Each member has braces of its own, so that an array counts as one.
template <class T, std::size_t... I>
constexpr auto takes(std::index_sequence<I...>) -> decltype(T{{(static_cast<void>(I), AnyMember{})}...}, true) {
  return true;
}
template <class T>
constexpr bool takes(...) {
  return false;
}
template <class T, std::size_t N = 1>
constexpr std::size_t count_members() {
  if constexpr (takes<T>(std::make_index_sequence<N + 1>()))
    return count_members<T, N + 1>();
  else
    return N;
}

// Whether a struct of so many bytes ends with one of these members, or with the padding behind it.
template <class T, class... Members>
bool ends_with_one(const T &object, std::uint64_t bytes, const Members &...members) noexcept {
  const auto offset = [&](const auto &member) {
    return static_cast<std::uint64_t>(reinterpret_cast<const char *>(&member) -
                                      reinterpret_cast<const char *>(&object));
  };
  return ((bytes == offset(members) + sizeof(members) || (bytes > 0 && bytes == offset(members))) || ...);
}

}  // namespace detail

// Names of so many members. They are macros because a structured binding spells its names out.
#define SXT_M1 m1
#define SXT_M2 SXT_M1, m2
#define SXT_M3 SXT_M2, m3
#define SXT_M4 SXT_M3, m4
#define SXT_M5 SXT_M4, m5
#define SXT_M6 SXT_M5, m6
#define SXT_M7 SXT_M6, m7
#define SXT_M8 SXT_M7, m8
#define SXT_M9 SXT_M8, m9
#define SXT_M10 SXT_M9, m10
#define SXT_M11 SXT_M10, m11
#define SXT_M12 SXT_M11, m12
#define SXT_M13 SXT_M12, m13
#define SXT_M14 SXT_M13, m14
#define SXT_M15 SXT_M14, m15
#define SXT_M16 SXT_M15, m16
#define SXT_M17 SXT_M16, m17
#define SXT_M18 SXT_M17, m18
#define SXT_M19 SXT_M18, m19
#define SXT_M20 SXT_M19, m20
#define SXT_M21 SXT_M20, m21
#define SXT_M22 SXT_M21, m22
#define SXT_M23 SXT_M22, m23
#define SXT_M24 SXT_M23, m24
#define SXT_M25 SXT_M24, m25
#define SXT_M26 SXT_M25, m26
#define SXT_M27 SXT_M26, m27
#define SXT_M28 SXT_M27, m28
#define SXT_M29 SXT_M28, m29
#define SXT_M30 SXT_M29, m30
#define SXT_M31 SXT_M30, m31
#define SXT_M32 SXT_M31, m32
#define SXT_M33 SXT_M32, m33
#define SXT_M34 SXT_M33, m34
#define SXT_M35 SXT_M34, m35
#define SXT_M36 SXT_M35, m36
#define SXT_M37 SXT_M36, m37
#define SXT_M38 SXT_M37, m38
#define SXT_M39 SXT_M38, m39
#define SXT_M40 SXT_M39, m40
#define SXT_M41 SXT_M40, m41
#define SXT_M42 SXT_M41, m42
#define SXT_M43 SXT_M42, m43
#define SXT_M44 SXT_M43, m44
#define SXT_M45 SXT_M44, m45
#define SXT_M46 SXT_M45, m46
#define SXT_M47 SXT_M46, m47
#define SXT_M48 SXT_M47, m48

// Whether so many bytes of a T are whole members, or all of it and more, as of a newer header.
template <class T>
bool is_whole(std::uint64_t bytes) noexcept {
  static_assert(std::is_aggregate_v<T> && std::is_trivially_copyable_v<T>);
  constexpr std::size_t count = detail::count_members<T>();
  static_assert(count <= 48, "names for more members are needed");
  if (bytes >= sizeof(T)) return true;
  const T object{};
#define SXT_X(N)                                           \
  if constexpr (count == N) {                              \
    const auto &[SXT_M##N] = object;                       \
    return detail::ends_with_one(object, bytes, SXT_M##N); \
  }
  SXT_X(1)
  SXT_X(2) SXT_X(3) SXT_X(4) SXT_X(5) SXT_X(6) SXT_X(7) SXT_X(8) SXT_X(9) SXT_X(10) SXT_X(11) SXT_X(12) SXT_X(13)
      SXT_X(14) SXT_X(15) SXT_X(16) SXT_X(17) SXT_X(18) SXT_X(19) SXT_X(20) SXT_X(21) SXT_X(22) SXT_X(23) SXT_X(24)
          SXT_X(25) SXT_X(26) SXT_X(27) SXT_X(28) SXT_X(29) SXT_X(30) SXT_X(31) SXT_X(32) SXT_X(33) SXT_X(34) SXT_X(35)
              SXT_X(36) SXT_X(37) SXT_X(38) SXT_X(39) SXT_X(40) SXT_X(41) SXT_X(42) SXT_X(43) SXT_X(44) SXT_X(45)
                  SXT_X(46) SXT_X(47) SXT_X(48)
#undef SXT_X
                      return false;
}

}  // namespace sextant
