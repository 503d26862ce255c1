// SPDX-License-Identifier: BSD-3-Clause
// The structure on disk: the order, the supernodes and their rows; what follows from these and the pattern is made
// anew. Numbers lie as the machine has them; a file of another byte order, another version or another pattern, or one
// that was damaged, is told from a good one before anything is used.
#include <cstring>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/cholesky/parallel.hpp"
#include "core/cholesky/symbolic.hpp"

namespace sextant::cholesky {

namespace {

constexpr char magic[8] = {'S', 'X', 'T', 'S', 'Y', 'M', 'B', '\n'};
constexpr std::uint32_t version = 1, byte_order = 0x01020304;

struct Head {
  char magic[8];
  std::uint32_t version, byte_order;
  std::uint64_t pattern_hash, checksum;  // of all that follows the head, and of the head with 0 here
  std::int64_t n, n_schur, n_super, below, nnz_l;
  std::int64_t amalgamation, block, widths[3];
  double zeros[4];
};

// Four sums side by side; not against forgers, whose files the reader's checks bound.
std::uint64_t checksum(const void *data, std::uint64_t bytes, std::uint64_t seed) {
  constexpr std::uint64_t prime = 0x9e3779b97f4a7c15u;
  std::uint64_t lane[4] = {seed ^ bytes, seed + prime, seed ^ ~bytes, seed - prime};
  const auto *at = static_cast<const unsigned char *>(data);
  const auto add = [&](int k, std::uint64_t word) {
    lane[k] = (lane[k] ^ word) * prime;
    lane[k] ^= lane[k] >> 29;
  };
  for (; bytes >= 32; bytes -= 32, at += 32)
    for (int k = 0; k < 4; ++k) {
      std::uint64_t word;
      std::memcpy(&word, at + 8 * k, 8);
      add(k, word);
    }
  for (; bytes > 0; --bytes) add(0, *at++);
  for (int k = 1; k < 4; ++k) add(0, lane[k]);
  return lane[0];
}

struct Content {
  Head head{};
  Array<std::int32_t> perm, rows, below;
  Array<std::int64_t> super_ptr;

  // f(data, bytes) for the arrays in the order of the file.
  template <class F>
  void for_arrays(F &&f) {
    f(perm.data(), perm.bytes()), f(super_ptr.data(), super_ptr.bytes());
    f(rows.data(), rows.bytes()), f(below.data(), below.bytes());
  }
  std::uint64_t sum() {
    Head plain = head;
    plain.checksum = 0;
    std::uint64_t sum = checksum(&plain, sizeof plain, 0);
    for_arrays([&](const void *data, std::uint64_t bytes) { sum = checksum(data, bytes, sum); });
    return sum;
  }
};

template <class... Parts>
[[noreturn]] void damaged(const std::string &path, const Parts &...parts) {
  fail(SXT_E_PLAN, "structure file '", path, "' is damaged: ", parts...);
}

void read_exactly(RegularFile &file, const std::string &path, void *to, std::uint64_t bytes) {
  auto *at = static_cast<char *>(to);
  while (bytes > 0) {
    const std::size_t got = file.read(at, bytes);
    if (got == 0) damaged(path, "it ends early");
    at += got, bytes -= got;
  }
}

void check_head(const Head &head, const std::string &path, std::int64_t n, std::uint64_t hash) {
  require(std::memcmp(head.magic, magic, sizeof magic) == 0, SXT_E_PLAN, "'", path, "' is no structure file");
  require(head.byte_order == byte_order, SXT_E_PLAN, "structure file '", path,
          "' was written on a machine of another byte order");
  require(head.version == version, SXT_E_PLAN, "structure file '", path, "' is of version ", head.version,
          ", this library reads version ", version);
  require(head.pattern_hash == hash && head.n == n, SXT_E_PLAN, "structure file '", path,
          "' was written for another pattern, of ", head.n, " rows; the matrix has ", n);
  const auto most = std::numeric_limits<std::int64_t>::max() / 64;
  if (head.n_super < 0 || head.n_super > head.n || head.n_schur < 0 || head.n_schur > head.n || head.below < 0 ||
      head.below > most || head.block < 1)
    damaged(path, "its sizes contradict each other");
}

Content read_content(const std::string &path, std::int64_t n, std::uint64_t hash) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 46;
  RegularFile file(path, most_bytes);
  Content out;
  if (file.size() < sizeof out.head) fail(SXT_E_PLAN, "'", path, "' is no structure file");
  read_exactly(file, path, &out.head, sizeof out.head);
  check_head(out.head, path, n, hash);
  const Head &head = out.head;
  const auto expected = sizeof head + 4 * static_cast<std::uint64_t>(n + head.n_super + head.below) +
                        8 * static_cast<std::uint64_t>(head.n_super + 1);
  if (file.size() != expected) damaged(path, "it has ", file.size(), " bytes instead of ", expected);
  out.perm = Array<std::int32_t>(n), out.super_ptr = Array<std::int64_t>(head.n_super + 1);
  out.rows = Array<std::int32_t>(head.n_super), out.below = Array<std::int32_t>(head.below);
  out.for_arrays([&](void *data, std::uint64_t bytes) { read_exactly(file, path, data, bytes); });
  if (out.sum() != head.checksum) damaged(path, "its checksum is wrong");
  return out;
}

Array<std::int32_t> inverse_of(const Array<std::int32_t> &perm, const std::string &path) {
  Array<std::int32_t> inverse(perm.size(), -1);
  for (std::int64_t k = 0; k < perm.size(); ++k) {
    const std::int32_t column = perm[k];
    if (column < 0 || column >= perm.size() || inverse[column] >= 0) damaged(path, "its order is no permutation");
    inverse[column] = static_cast<std::int32_t>(k);
  }
  return inverse;
}

// Columns and row counts, checked; the parents follow from the rows.
Partition partition_of(const Content &c, const std::string &path) {
  Partition p;
  p.n = c.head.n, p.n_schur = c.head.n_schur, p.n_super = c.head.n_super, p.nnz_l = c.head.nnz_l;
  p.options.amalgamation = c.head.amalgamation, p.options.block = c.head.block;
  std::copy(std::begin(c.head.widths), std::end(c.head.widths), p.options.widths);
  std::copy(std::begin(c.head.zeros), std::end(c.head.zeros), p.options.zeros);
  p.super_ptr = Array<std::int64_t>(p.n_super + 1), p.rows = Array<std::int32_t>(p.n_super);
  p.parent = Array<std::int32_t>(p.n_super, -1);
  std::copy(c.super_ptr.begin(), c.super_ptr.end(), p.super_ptr.begin());
  std::copy(c.rows.begin(), c.rows.end(), p.rows.begin());
  if (p.super_ptr[0] != 0 || p.super_ptr[p.n_super] != p.n) damaged(path, "its supernodes do not cover the columns");
  std::int64_t below = 0;
  for (std::int64_t s = 0; s < p.n_super; ++s) {
    const std::int64_t width = p.super_ptr[s + 1] - p.super_ptr[s];
    if (width < 1 || p.super_ptr[s + 1] > p.n || p.rows[s] < width) damaged(path, "supernode ", s, " has no columns");
    below += p.rows[s] - width;
  }
  if (below != c.head.below) damaged(path, "its supernodes have other rows than it holds");
  if (p.n_schur > 0 && p.super_ptr[p.n_super - 1] != p.n - p.n_schur)
    damaged(path, "its last supernode is not the Schur complement");
  return p;
}

// Rows ascend, and all but the parent's own columns are rows of the parent, too.
bool rows_fit(const Partition &p, const Array<std::int64_t> &row_ptr, const Array<std::int32_t> &rows, int threads) {
  std::atomic<bool> good{true};
  for_ranges(p.n_super, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = begin; s < end; ++s) {
      const std::int32_t *at = rows.data() + row_ptr[s] + (p.super_ptr[s + 1] - p.super_ptr[s]);
      const std::int32_t *const last = rows.data() + row_ptr[s + 1];
      if (at == last) continue;
      bool fits = *at >= p.super_ptr[s + 1] && last[-1] < p.n && std::is_sorted(at, last, std::less_equal<>());
      const std::int32_t up = p.parent[s];
      const std::int32_t *in = rows.data() + (fits ? row_ptr[up] : 0), *const in_end =
                                                                           rows.data() + (fits ? row_ptr[up + 1] : 0);
      for (; fits && at < last; ++at) {
        in = std::lower_bound(in, in_end, *at);
        fits = in < in_end && *in == *at;
      }
      if (!fits) good.store(false, std::memory_order_relaxed);
    }
  });
  return good;
}

}  // namespace

void Symbolic::save(const std::string &path, std::uint64_t pattern_hash) const {
  Content c;
  const std::int64_t n_super = parent_.size();
  std::copy(std::begin(magic), std::end(magic), c.head.magic);
  c.head.version = version, c.head.byte_order = byte_order, c.head.pattern_hash = pattern_hash;
  c.head.n = view_.n, c.head.n_schur = view_.n - view_.n_factored, c.head.n_super = n_super;
  c.head.below = rows_.size() - view_.n, c.head.nnz_l = view_.nnz_l;
  c.head.amalgamation = options_.amalgamation, c.head.block = options_.block;
  std::copy(std::begin(options_.widths), std::end(options_.widths), c.head.widths);
  std::copy(std::begin(options_.zeros), std::end(options_.zeros), c.head.zeros);
  c.perm = Array<std::int32_t>(view_.n), c.super_ptr = Array<std::int64_t>(n_super + 1);
  c.rows = Array<std::int32_t>(n_super), c.below = Array<std::int32_t>(c.head.below);
  std::copy(perm_.begin(), perm_.end(), c.perm.begin());
  std::copy(super_ptr_.begin(), super_ptr_.end(), c.super_ptr.begin());
  std::int32_t *to = c.below.data();
  for (std::int64_t s = 0; s < n_super; ++s) {
    c.rows[s] = static_cast<std::int32_t>(row_ptr_[s + 1] - row_ptr_[s]);
    to = std::copy(rows_.begin() + row_ptr_[s] + (super_ptr_[s + 1] - super_ptr_[s]), rows_.begin() + row_ptr_[s + 1],
                   to);
  }
  c.head.checksum = c.sum();
  std::string content(reinterpret_cast<const char *>(&c.head), sizeof c.head);
  c.for_arrays([&](const void *data, std::uint64_t bytes) { content.append(static_cast<const char *>(data), bytes); });
  write_file_atomically(path, content);
}

Symbolic Symbolic::load(const std::string &path, const Pattern &pattern, std::uint64_t pattern_hash, int threads) {
  Content c = read_content(path, pattern.n, pattern_hash);
  Symbolic out;
  out.inverse_ = inverse_of(c.perm, path);
  Partition p = partition_of(c, path);
  Array<std::int64_t> row_ptr(p.n_super + 1);
  row_ptr[0] = 0;
  for (std::int64_t s = 0; s < p.n_super; ++s) row_ptr[s + 1] = row_ptr[s] + p.rows[s];
  out.rows_ = Array<std::int32_t>(row_ptr[p.n_super]);
  Array<std::int32_t> super_of(p.n);
  const std::int32_t *from = c.below.data();
  for (std::int64_t s = 0; s < p.n_super; ++s) {
    std::int32_t *to = out.rows_.data() + row_ptr[s];
    for (std::int64_t k = p.super_ptr[s]; k < p.super_ptr[s + 1]; ++k)
      *to++ = static_cast<std::int32_t>(k), super_of[k] = static_cast<std::int32_t>(s);
    const std::int64_t below = out.rows_.data() + row_ptr[s + 1] - to;
    std::copy(from, from + below, to);
    from += below;
  }
  for (std::int64_t s = 0; s < p.n_super; ++s)
    if (const std::int64_t first = row_ptr[s] + (p.super_ptr[s + 1] - p.super_ptr[s]); first < row_ptr[s + 1]) {
      const std::int32_t row = out.rows_[first];
      if (row < p.super_ptr[s + 1] || row >= p.n) damaged(path, "supernode ", s, " has a row outside the matrix");
      p.parent[s] = super_of[row];
    }
  if (!rows_fit(p, row_ptr, out.rows_, threads)) damaged(path, "a supernode has rows that its parent lacks");
  out.set_sizes(p);
  out.perm_ = std::move(c.perm);
  out.find_entries(pattern, threads);
  out.show();
  return out;
}

}  // namespace sextant::cholesky
