// SPDX-License-Identifier: BSD-3-Clause
#include "abi/guard.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>

namespace sextant::abi {

namespace {

constexpr std::size_t contexts_remembered = 64;  // a thread that meets more forgets the oldest

thread_local std::map<std::uint64_t, std::string> sentences;  // 0: the last of all

}  // namespace

void remember(std::uint64_t context, const char *sentence) noexcept {
  try {
    sentences[0] = sentence;
    if (context) sentences[context] = sentence;
    if (sentences.size() > contexts_remembered) sentences.erase(std::next(sentences.begin()));
  } catch (...) {  // no memory for a sentence: the status still tells
  }
}

const char *remembered(std::uint64_t context) noexcept {
  const auto found = sentences.find(context);
  return found == sentences.end() ? "" : found->second.c_str();
}

void check_buffer(const char *buffer, std::int64_t capacity) {
  require(capacity >= 0, SXT_E_ARGUMENT, "capacity is negative (", capacity, ")");
  require(buffer != nullptr || capacity == 0, SXT_E_ARGUMENT, "buffer is NULL but capacity is ", capacity);
}

void fill(const std::string &text, char *buffer, std::int64_t capacity, std::int64_t *length) {
  check_buffer(buffer, capacity);
  if (capacity > 0) {
    const std::size_t fits = std::min(text.size(), static_cast<std::size_t>(capacity - 1));
    std::memcpy(buffer, text.data(), fits);
    buffer[fits] = 0;
  }
  if (length) *length = static_cast<std::int64_t>(text.size());
}

}  // namespace sextant::abi
