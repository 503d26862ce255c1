// SPDX-License-Identifier: BSD-3-Clause
// Threads take blocks of lines in turn, parse each into an array of their own, and append it to the result in file
// order: entries stand as in the file, and the first error of the file wins, for any number of threads.
#include "core/io/mm_entries.hpp"

#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>

namespace sextant::io::detail {

namespace {

class EntryParser {
 public:
  EntryParser(TextSource &source, Block first, const Header &header, sxt_value_type value_type,
              const ReadOptions &options, const Allocator &allocator);
  ParsedEntries run(int threads);

 private:
  void work();
  bool take(Block &block, std::int64_t &turn, std::exception_ptr &error);
  void reserve(Piece &piece, const Block &block);
  std::int64_t wait_and_append(std::int64_t turn, const Piece &piece, std::exception_ptr error);
  void copy(const Piece &piece, std::int64_t at);

  TextSource &source_;
  Block first_;
  const Header &header_;
  EntryRules rules_;
  ParseBlock parse_;
  Allocator allocator_;
  ParsedEntries out_;
  std::int64_t index_bytes_ = 0, value_bytes_ = 0;  // of one entry in the result

  std::mutex mutex_;  // guards everything below
  std::condition_variable turn_changed_;
  std::int64_t turns_given_ = 0, turns_done_ = 0;
  std::int64_t total_ = 0;
  bool ended_ = false;
  std::exception_ptr error_;  // the first of the file
};

EntryParser::EntryParser(TextSource &source, Block first, const Header &header, sxt_value_type value_type,
                         const ReadOptions &options, const Allocator &allocator)
    : source_(source), first_(std::move(first)), header_(header), allocator_(allocator) {
  rules_.rows = header.rows, rules_.cols = header.cols;
  rules_.indices = header.indices();
  rules_.nonnegative = header.field == Field::unsigned_integer;
  rules_.integer = header.field == Field::integer || rules_.nonnegative;
  rules_.check_finite = options.check_finite;
  rules_.symmetry = header.symmetry;
  auto &entries = out_.entries;
  entries.rows = header.rows, entries.cols = header.cols, entries.nnz = header.stored;
  entries.value_type = value_type;
  entries.index_type = sextant::detail::smallest_index(std::max(header.rows, header.cols));
  parse_ = choose_parser(header, entries.index_type, value_type);
  // The result is allocated once, at the size that the header states.
  const auto bytes = [&](std::int64_t each) { return static_cast<std::uint64_t>(each * header.stored); };
  if (header.coordinate) {
    index_bytes_ = index_bytes(entries.index_type);
    entries.row = Buffer(bytes(index_bytes_), allocator);
    entries.col = Buffer(bytes(index_bytes_), allocator);
  }
  if (header.field != Field::pattern) {
    value_bytes_ = value_bytes(value_type);
    entries.values = Buffer(bytes(value_bytes_), allocator);
  }
}

// Gives out the next block with its turn; errors of the source take a turn too, so that they wait for earlier ones.
bool EntryParser::take(Block &block, std::int64_t &turn, std::exception_ptr &error) {
  const std::lock_guard lock(mutex_);
  if (ended_ || error_) return false;
  try {
    if (first_.begin != first_.end)
      block = std::move(first_), first_.begin = first_.end = nullptr;
    else if (!source_.next(block))
      ended_ = true;
  } catch (...) {
    error = std::current_exception();
    ended_ = true;
  }
  if (ended_ && !error) return false;
  turn = turns_given_++;
  return true;
}

// Room for as many entries as the block could hold: a token and a separator for each number.
void EntryParser::reserve(Piece &piece, const Block &block) {
  const std::int64_t shortest = 2 * (header_.indices() + header_.values());
  const std::int64_t capacity = (block.end - block.begin) / shortest + 1;
  if (capacity <= piece.capacity) return;
  // First the old arrays go, then the new ones come.
  piece.row.reset(), piece.col.reset(), piece.values.reset();
  piece.row = Buffer(static_cast<std::uint64_t>(capacity * index_bytes_), allocator_);
  piece.col = Buffer(static_cast<std::uint64_t>(capacity * index_bytes_), allocator_);
  piece.values = Buffer(static_cast<std::uint64_t>(capacity * value_bytes_), allocator_);
  piece.capacity = capacity;
}

// Returns where the piece belongs, or -1 when nothing more is wanted.
std::int64_t EntryParser::wait_and_append(std::int64_t turn, const Piece &piece, std::exception_ptr error) {
  std::unique_lock lock(mutex_);
  turn_changed_.wait(lock, [&] { return turns_done_ == turn; });
  std::int64_t at = -1;
  if (!error && !error_ && piece.count > header_.stored - total_) error = std::make_exception_ptr(WrongCount{-1});
  if (error && !error_) error_ = error;
  if (!error_) {
    at = total_;
    total_ += piece.count;
  }
  ++turns_done_;
  lock.unlock();
  turn_changed_.notify_all();
  return at;
}

void EntryParser::copy(const Piece &piece, std::int64_t at) {
  const auto part = [&](Buffer &to, const Buffer &from, std::int64_t each) {
    if (each && piece.count)
      std::memcpy(to.as<char>() + at * each, from.data(), static_cast<std::size_t>(piece.count * each));
  };
  part(out_.entries.row, piece.row, index_bytes_);
  part(out_.entries.col, piece.col, index_bytes_);
  part(out_.entries.values, piece.values, value_bytes_);
}

void EntryParser::work() {
  Block block;
  Piece piece;
  std::int64_t turn = 0;
  std::exception_ptr error;
  while (take(block, turn, error)) {
    piece.count = 0;
    if (!error) {
      try {
        reserve(piece, block);
        parse_(block, rules_, piece);
      } catch (...) {
        error = std::current_exception();
      }
    }
    const std::int64_t at = wait_and_append(turn, piece, error);
    if (at < 0) break;
    copy(piece, at);
  }
  const std::lock_guard lock(mutex_);
  out_.lower |= piece.lower, out_.upper |= piece.upper, out_.odd_diagonal |= piece.odd_diagonal;
}

ParsedEntries EntryParser::run(int threads) {
  const std::int64_t blocks = static_cast<std::int64_t>(source_.text_limit() / kBlockBytes) + 1;
  const int team = static_cast<int>(std::clamp<std::int64_t>(blocks, 1, std::max(threads, 1)));
  sextant::threads::for_parts(team, team, [this](int) { work(); });
  if (error_) std::rethrow_exception(error_);
  if (total_ < header_.stored) throw WrongCount{total_};
  return std::move(out_);
}

// A header that promises more than the file can hold must not cost memory.
void check_room(const TextSource &source, const Header &header, std::uint64_t offset) {
  const int numbers = header.indices() + header.values();
  const std::uint64_t most = source.text_limit() / static_cast<std::uint64_t>(2 * numbers) + 1;
  constexpr std::int64_t kHarmless = 1 << 20;
  if (header.stored > kHarmless && static_cast<std::uint64_t>(header.stored) > most)
    throw Fault{SXT_E_FILE_FORMAT, offset,
                text("the size line promises ", header.stored, " entries, but the file has room for at most ", most)};
}

std::string count_message(const std::string &path, const Header &header, const WrongCount &wrong,
                          const Allocator &allocator) {
  const char *what = header.coordinate ? " entries" : " values";
  if (wrong.found < 0)
    return text(path, ":", line_of_entry(path, header.stored, allocator), ": more than the ", header.stored, what,
                " that the header promises");
  return text(path, ":", line_of_entry(path, header.stored, allocator), ": the file ends after ", wrong.found, " of ",
              header.stored, what);
}

}  // namespace

ParsedEntries parse_entries(TextSource &source, LineReader &after_header, const std::string &path, const Header &header,
                            sxt_value_type value_type, const ReadOptions &options, const Allocator &allocator) {
  check_room(source, header, after_header.offset());
  try {
    return EntryParser(source, after_header.rest(), header, value_type, options, allocator).run(options.threads);
  } catch (const WrongCount &wrong) {
    fail(SXT_E_FILE_FORMAT, count_message(path, header, wrong, allocator));
  }
}

}  // namespace sextant::io::detail
