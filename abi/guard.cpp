// SPDX-License-Identifier: BSD-3-Clause
#include "abi/guard.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>

namespace sextant::abi {

namespace {

constexpr std::size_t contexts_remembered = 64;  // a thread that meets more forgets what it wrote longest ago

struct Sentence {
  std::string words;
  std::uint64_t written = 0;
};

thread_local std::map<std::uint64_t, Sentence> sentences;  // 0: the last of all
thread_local std::uint64_t writings = 0;

void write(std::uint64_t context, const char *words) {
  Sentence &sentence = sentences[context];
  sentence.words = words;
  sentence.written = ++writings;
}

// Neither the last of all nor the one written just now can be the oldest: both are the newest.
void forget_oldest() noexcept {
  const auto older = [](const auto &a, const auto &b) { return a.second.written < b.second.written; };
  sentences.erase(std::min_element(sentences.begin(), sentences.end(), older));
}

// How many of a text's bytes fit, without a part of a UTF-8 character at the end.
std::size_t whole_characters(const std::string &text, std::size_t most) {
  if (most >= text.size()) return text.size();
  const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0u) == 0x80u; };
  while (most > 0 && continues(most)) --most;
  return most;
}

}  // namespace

void remember(std::uint64_t context, const char *sentence) noexcept {
  try {
    write(0, sentence);
    if (context) write(context, sentence);
    if (sentences.size() > contexts_remembered) forget_oldest();
  } catch (...) {  // no memory for a sentence: the status still tells
  }
}

const char *remembered(std::uint64_t context) noexcept {
  const auto found = sentences.find(context);
  return found == sentences.end() ? "" : found->second.words.c_str();
}

void check_buffer(const char *buffer, std::int64_t capacity) {
  require(capacity >= 0, SXT_E_ARGUMENT, "capacity is negative (", capacity, ")");
  require(buffer != nullptr || capacity == 0, SXT_E_ARGUMENT, "buffer is NULL but capacity is ", capacity);
}

void fill(const std::string &text, char *buffer, std::int64_t capacity, std::int64_t *length) {
  check_buffer(buffer, capacity);
  if (capacity > 0) {
    const std::size_t fits = whole_characters(text, static_cast<std::size_t>(capacity - 1));
    std::memcpy(buffer, text.data(), fits);
    buffer[fits] = 0;
  }
  if (length) *length = static_cast<std::int64_t>(text.size());
}

}  // namespace sextant::abi
