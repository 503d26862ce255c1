// SPDX-License-Identifier: BSD-3-Clause
#include "abi/guard.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>

#include "core/base/per_thread.hpp"

namespace sextant::abi {

namespace {

constexpr std::size_t contexts_remembered = 64;  // a thread with more contexts drops its oldest sentence

// The sentences that the calls of one thread left.
class Sentences {
 public:
  void write(std::uint64_t context, const char *words) {
    Sentence &sentence = all_[context];
    sentence.words = words;
    sentence.written = ++writings_;
  }
  // The oldest entry is neither the last of all nor the one written just now: both are the newest.
  void forget_beyond_limit() noexcept {
    if (all_.size() <= contexts_remembered) return;
    const auto older = [](const auto &a, const auto &b) { return a.second.written < b.second.written; };
    all_.erase(std::min_element(all_.begin(), all_.end(), older));
  }
  const char *find(std::uint64_t context) const noexcept {
    const auto found = all_.find(context);
    return found == all_.end() ? "" : found->second.words.c_str();
  }

 private:
  struct Sentence {
    std::string words;
    std::uint64_t written = 0;
  };
  std::map<std::uint64_t, Sentence> all_;  // 0: the last of all
  std::uint64_t writings_ = 0;
};

// Holds a sentence when no memory can be allocated for it. It is part of the thread's own data.
struct ShortOfMemory {
  bool of_context, last;  // whether it is the newest of its context, and of all
  std::uint64_t context;
  char words[232];
};
constinit thread_local ShortOfMemory in_place{};

void remember_in_place(std::uint64_t context, const char *sentence) noexcept {
  ShortOfMemory &place = in_place;
  place.of_context = place.last = true;
  place.context = context;
  std::strncpy(place.words, sentence, sizeof place.words - 1);
  place.words[sizeof place.words - 1] = 0;
}

// The number of a text's bytes that fit, without a part of a UTF-8 character at the end.
std::size_t whole_characters(const std::string &text, std::size_t most) {
  if (most >= text.size()) return text.size();
  const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0u) == 0x80u; };
  while (most > 0 && continues(most)) --most;
  return most;
}

}  // namespace

void remember(std::uint64_t context, const char *sentence) noexcept {
  Sentences *const own = PerThread<Sentences>::get();
  if (!own) return remember_in_place(context, sentence);
  try {
    own->write(0, sentence);
    if (context) own->write(context, sentence);
  } catch (...) {
    return remember_in_place(context, sentence);
  }
  own->forget_beyond_limit();
  in_place.last = false;
  if (context == in_place.context) in_place.of_context = false;
}

sxt_status short_of_memory(std::uint64_t context) noexcept {
  remember_in_place(context, status_sentence(SXT_E_MEMORY));
  return SXT_E_MEMORY;
}

const char *remembered(std::uint64_t context) noexcept {
  const ShortOfMemory &place = in_place;
  if (context == 0 ? place.last : place.of_context && place.context == context) return place.words;
  const Sentences *const own = PerThread<Sentences>::there();
  return own ? own->find(context) : "";
}

sxt_status tell_cancelled(sxt_status status, std::uint64_t context, const char *what) {
  if (status == SXT_NOT_CONVERGED) remember(context, text("the caller cancelled the ", what).c_str());
  return status;
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
