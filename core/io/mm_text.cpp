// SPDX-License-Identifier: BSD-3-Clause
// Plain text through a mapping, carved into blocks of whole lines, and the line-by-line view of any source.
#include "core/io/mm_text.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace sextant::io::detail {

namespace {

[[noreturn]] void fail_read(const std::string &path, const char *what, int error) {
  fail(SXT_E_FILE_READ, path, ": ", what, ": ", std::generic_category().message(error));
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

class PlainText : public TextSource {
 public:
  PlainText(std::unique_ptr<FileMap> map, const Allocator &allocator) : map_(std::move(map)), allocator_(allocator) {}
  bool next(Block &block) override;
  void consumed(std::uint64_t offset) override;
  std::uint64_t text_limit() const override { return map_->size(); }
  std::uint64_t file_bytes() const override { return map_->size(); }

 private:
  bool take(Block &block, std::size_t length);

  std::unique_ptr<FileMap> map_;
  Allocator allocator_;
  std::size_t at_ = 0;
  std::size_t dropped_ = 0;
};

bool PlainText::take(Block &block, std::size_t length) {
  block.begin = map_->data() + at_;
  block.end = block.begin + length;
  block.offset = at_;
  at_ += length;
  return true;
}

bool PlainText::next(Block &block) {
  const std::size_t left = map_->size() - at_;
  if (left == 0) return false;
  const char *begin = map_->data() + at_;
  // A longer look only where a whole block holds no line end.
  for (const std::size_t look : {kBlockBytes, kLongestLine}) {
    const std::size_t length = std::min(left, look);
    if (const char *end = last_line_end(begin, begin + length))
      return take(block, static_cast<std::size_t>(end - begin));
    if (length == left) break;
  }
  if (left > kLongestLine)
    throw Fault{SXT_E_FILE_FORMAT, at_, "the line is longer than 1 MiB: this is no Matrix Market text"};
  // The last line has no end of its own: copy it and add one.
  block.storage = Buffer(left + 1, allocator_);
  char *copy = block.storage.as<char>();
  std::memcpy(copy, begin, left);
  copy[left] = '\n';
  take(block, left);
  block.begin = copy;
  block.end = copy + left + 1;
  return true;
}

void PlainText::consumed(std::uint64_t offset) {
  // In large steps: a call costs as much as reading several pages.
  constexpr std::size_t kStep = std::size_t{8} << 20;
  if (offset < dropped_ + kStep) return;
  map_->drop(dropped_, offset);
  dropped_ = offset;
}

}  // namespace

FileMap::FileMap(const std::string &path) {
  // Without O_NONBLOCK a pipe without a writer would be waited for.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) fail_read(path, "cannot open", errno);
  struct stat status;
  if (fstat(file.fd, &status) != 0) fail_read(path, "cannot get the size", errno);
  require(S_ISREG(status.st_mode), SXT_E_FILE_READ, path, ": not a regular file");
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  void *memory = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (memory == MAP_FAILED) fail_read(path, "cannot map", errno);
  data_ = static_cast<const char *>(memory);
  madvise(memory, size_, MADV_SEQUENTIAL);
}

FileMap::~FileMap() {
  if (data_) munmap(const_cast<char *>(data_), size_);
}

void FileMap::drop(std::size_t begin, std::size_t end) const {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t first = begin / page * page, last = end / page * page;
  if (last > first) madvise(const_cast<char *>(data_) + first, last - first, MADV_DONTNEED);
}

std::unique_ptr<TextSource> open_text(const std::string &path, const Allocator &allocator) {
  auto map = std::make_unique<FileMap>(path);
  const bool gzip = map->size() >= 2 && map->data()[0] == '\x1f' && map->data()[1] == '\x8b';
  if (gzip) return open_gzip(std::move(map), path, allocator);
  return std::make_unique<PlainText>(std::move(map), allocator);
}

const char *last_line_end(const char *begin, const char *end) {
  const auto length = static_cast<std::size_t>(end - begin);
  const void *found = memrchr(begin, '\n', length);
  if (!found) found = memrchr(begin, '\r', length);
  return found ? static_cast<const char *>(found) + 1 : nullptr;
}

bool LineReader::next() {
  while (true) {
    if (at_ == block_.end) {
      if (!source_.next(block_)) return false;
      at_ = block_.begin;
    }
    if (!(after_return_ && *at_ == '\n')) break;
    ++at_;
    after_return_ = false;
  }
  const char *end = std::find_if(at_, block_.end, is_line_end);
  line_ = {at_, static_cast<std::size_t>(end - at_)};
  offset_ = block_.offset + static_cast<std::uint64_t>(at_ - block_.begin);
  ++number_;
  after_return_ = *end == '\r';
  at_ = end + 1;
  return true;
}

Block LineReader::rest() {
  if (!block_.begin) return {};
  block_.offset += static_cast<std::uint64_t>(at_ - block_.begin);
  block_.begin = at_;
  return std::move(block_);
}

}  // namespace sextant::io::detail
