// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace sextant {
namespace {

// Large arrays are asked for in pages of 2 MiB where the system has such: one fault a page, and products miss fewer
// translations of addresses.
constexpr std::uint64_t page = std::uint64_t{2} << 20, least_in_pages = 4 * page;

void *own(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  if (bytes < least_in_pages) return std::aligned_alloc(alignment, bytes);
  const std::uint64_t whole = (bytes + page - 1) / page * page;
  void *memory = whole < bytes ? nullptr : std::aligned_alloc(std::max(alignment, page), whole);
#ifdef MADV_HUGEPAGE
  if (memory) madvise(memory, bytes, MADV_HUGEPAGE);  // where it fails, pages are small
#endif
  return memory;
}

}  // namespace

void *Allocator::get(std::uint64_t bytes, std::uint64_t alignment) const {
  if (bytes == 0) return nullptr;
  const std::uint64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void *memory = nullptr;
  if (rounded >= bytes) memory = allocate ? allocate(user, rounded, alignment) : own(rounded, alignment);
  require(memory != nullptr, SXT_E_MEMORY, "could not allocate ", bytes, " bytes");
  return memory;
}

void Allocator::put(void *memory) const noexcept {
  if (!memory) return;
  if (allocate) {
    if (release) release(user, memory);
  } else {
    std::free(memory);
  }
}

Buffer::Buffer(std::uint64_t bytes, const Allocator &allocator)
    : data_(allocator.get(bytes)), bytes_(bytes), owned_(true), allocator_(allocator) {}

Buffer Buffer::borrow(const void *data, std::uint64_t bytes) noexcept {
  Buffer view;
  view.data_ = const_cast<void *>(data);
  view.bytes_ = bytes;
  return view;
}

void Buffer::reset() noexcept {
  if (owned_) allocator_.put(data_);
  data_ = nullptr;
  bytes_ = 0;
  owned_ = false;
}

void Buffer::swap(Buffer &other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(owned_, other.owned_);
  std::swap(allocator_, other.allocator_);
}

}  // namespace sextant
