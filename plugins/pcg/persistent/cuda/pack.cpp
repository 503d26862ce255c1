// SPDX-License-Identifier: BSD-3-Clause
// Packing: rows of a part by falling length into slices, columns renamed to places in the part's own p, halos and the
// packets that fill them.
#include "pack.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "turns.hpp"

namespace persistent {
namespace {

// Entries beside the diagonal, of each row.
std::vector<std::int32_t> lengths_of(const Pattern &a) {
  std::vector<std::int32_t> length(a.n);
  for (std::int32_t i = 0; i < a.n; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) length[i] += a.col[k] != i;
  return length;
}

// Rows of a part from the longest to the shortest, so that slices waste little, and equal ones as the matrix numbers
// them: adjacent lanes then read adjacent places of p, and shared memory has fewer conflicts. Sorted by counting, by
// length first and then by part.
std::vector<std::int32_t> positions(const std::vector<std::int32_t> &length, const Partition &partition) {
  const auto n = static_cast<std::int32_t>(length.size());
  const std::int32_t longest = n > 0 ? *std::max_element(length.begin(), length.end()) : 0;
  std::vector<std::int32_t> next(static_cast<std::size_t>(longest) + 2), by_length(n), row_of(n);
  for (std::int32_t i = 0; i < n; ++i) ++next[longest - length[i] + 1];
  for (std::int32_t i = 0; i < longest; ++i) next[i + 1] += next[i];
  for (std::int32_t i = 0; i < n; ++i) by_length[next[longest - length[i]]++] = i;
  next = partition.begin;
  for (const std::int32_t row : by_length) row_of[next[partition.part_of[row]]++] = row;
  return row_of;
}

std::int32_t slices_of(const Shape &shape) { return shape.passes * (shape.threads / warp_lanes); }

// Packs the entries of one part after the other; one object a thread.
class PartPacker {
 public:
  PartPacker(const Pattern &a, const std::vector<std::int32_t> &position, std::int32_t banks, Packed &out)
      : a_(a),
        position_(position),
        banks_(banks),
        out_(out),
        turns_(banks, banks > 1 ? out.most_rows + out.most_halo : 0),
        met_((position.size() + 63) / 64),
        local_(position.size()) {}

  // Fills part c's columns, entry_of and diagonal_entry; gives the positions of its halo, which ascend: they are read
  // in the order in which their owners publish them.
  std::vector<std::int32_t> pack(std::int32_t c) {
    const Part &part = out_.parts[c];
    where_.resize(2 * static_cast<std::size_t>(part.pairs));
    const std::int32_t slices = slices_of(out_.shape), *const begin =
                                                           out_.slices.data() + c * (slices + std::int64_t{1});
    for (std::int32_t s = 0; s < slices; ++s) place_slice(part, s, begin[s], begin[s + 1]);
    std::vector<std::int32_t> halo = name_places(part);
    for (std::int32_t s = 0; banks_ > 1 && s < slices; ++s) spread(part, begin[s], begin[s + 1]);
    std::uint32_t *const columns = out_.columns.data() + part.first_pair;
    const std::uint32_t zero = static_cast<std::uint32_t>(out_.most_rows + out_.most_halo);
    const auto place = [&](std::int32_t position) { return position < 0 ? zero : std::uint32_t{local_[position]}; };
    for (std::int32_t k = 0; k < part.pairs; ++k) columns[k] = place(where_[2 * k]) | place(where_[2 * k + 1]) << 16;
    return halo;
  }

 private:
  // Entries of a row without the diagonal go round the group's lanes; two in succession of one lane are a pair. Notes
  // the position of each entry's column.
  void place_slice(const Part &part, std::int32_t s, std::int32_t begin, std::int32_t end) {
    const auto group = static_cast<std::uint32_t>(out_.shape.group);
    constexpr std::int32_t ahead = 12;
    const int shift = std::countr_zero(group);
    const std::uint32_t places = 2 * group * static_cast<std::uint32_t>((end - begin) / warp_lanes);
    std::int32_t *const entry_of = out_.entry_of.data() + 2 * std::int64_t{part.first_pair};
    for (std::int32_t i = 0; i < warp_lanes >> shift; ++i) {
      const std::int32_t local = s * (warp_lanes >> shift) + i;
      const std::int32_t row = local < part.rows ? out_.row_of[part.first_row + local] : -1;
      // Rows of a part are scattered: those that come soon are prefetched.
      if (local + ahead < part.rows)
        __builtin_prefetch(a_.col + a_.row_ptr[out_.row_of[part.first_row + local + ahead]]);
      const std::uint32_t first = 2 * (begin + (static_cast<std::uint32_t>(i) << shift));
      std::uint32_t place = 0;
      const auto put = [&](std::int32_t entry, std::int32_t position) {
        const std::uint32_t turn = place >> shift, lane = place & (group - 1);
        const std::uint32_t at = first + (turn >> 1) * 2 * warp_lanes + 2 * lane + (turn & 1);
        entry_of[at] = entry;
        where_[at] = position;
        ++place;
      };
      if (row >= 0) {
        std::int32_t diagonal = -1;
        for (std::int32_t k = a_.row_ptr[row]; k < a_.row_ptr[row + 1]; ++k) {
          if (a_.col[k] == row) {
            diagonal = k;
            continue;
          }
          const std::int32_t position = position_[a_.col[k]];
          met_[position / 64] |= std::uint64_t{1} << position % 64;
          put(k, position);
        }
        out_.diagonal_entry[part.first_row + local] = diagonal;
      }
      while (place < places) put(-1, -1);
    }
  }

  // Moves the entries of each row of a slice to the turns that suit its neighbours; a row of more lanes than read at
  // once keeps its entries on either side.
  void spread(const Part &part, std::int32_t begin, std::int32_t end) {
    const std::int32_t turns = 2 * ((end - begin) / warp_lanes), lanes = std::min(out_.shape.group, banks_);
    std::int32_t *const entry_of = out_.entry_of.data() + 2 * std::int64_t{part.first_pair};
    for (std::int32_t from = 0; from < turns; from += Turns::most)
      for (std::int32_t first = 0; first < warp_lanes; first += banks_) {
        const std::int32_t count = std::min(Turns::most, turns - from);
        const auto at = [&](std::int32_t turn, std::int32_t lane) {
          return 2 * (begin + (from + turn) / 2 * warp_lanes + first + lane) + turn % 2;
        };
        turns_.begin(count);
        for (std::int32_t lane = 0; lane < banks_; lane += lanes) {
          row_.clear();
          for (std::int32_t turn = 0; turn < count; ++turn)
            for (std::int32_t j = 0; j < lanes; ++j)
              if (const std::int32_t place = at(turn, lane + j); where_[place] >= 0)
                row_.push_back({local_[where_[place]], entry_of[place], where_[place]});
          turns_.add_row(lane, lanes, row_.data(), static_cast<std::int32_t>(row_.size()));
        }
        turns_.exchange(lanes);
        for (std::int32_t turn = 0; turn < count; ++turn)
          for (std::int32_t lane = 0; lane < banks_; ++lane) {
            const Turns::Item &item = turns_.item(turn, lane);
            entry_of[at(turn, lane)] = item.entry;
            where_[at(turn, lane)] = item.position;
          }
      }
  }

  // Gives every position found its place in the part's p: own rows first, then the halo.
  std::vector<std::int32_t> name_places(const Part &part) {
    std::vector<std::int32_t> halo;
    for (std::size_t word = 0; word < met_.size(); ++word)
      for (std::uint64_t bits = std::exchange(met_[word], 0); bits != 0; bits &= bits - 1) {
        const auto position = static_cast<std::int32_t>(64 * word) + std::countr_zero(bits);
        if (position >= part.first_row && position < part.first_row + part.rows) continue;
        local_[position] = static_cast<std::uint16_t>(out_.most_rows + static_cast<std::int32_t>(halo.size()));
        halo.push_back(position);
      }
    for (std::int32_t i = 0; i < part.rows; ++i) local_[part.first_row + i] = static_cast<std::uint16_t>(i);
    return halo;
  }

  const Pattern &a_;
  const std::vector<std::int32_t> &position_;  // of each row
  std::int32_t banks_;
  Packed &out_;
  Turns turns_;
  std::vector<std::uint64_t> met_;   // a bit for each position, set where this part has an entry
  std::vector<std::int32_t> where_;  // the position that belongs to each place of this part; -1: padding
  std::vector<Turns::Item> row_;
  std::vector<std::uint16_t> local_;  // the place in this part's p of each position found
};

// Halos one after the other, and the packets that fill them: one for every row that is in a halo.
void number_packets(Packed &out, const std::vector<std::vector<std::int32_t>> &halos) {
  constexpr std::int32_t none = -1, needed = 0;
  out.packet_of.assign(out.row_of.size(), none);
  std::size_t total = 0;
  for (const auto &halo : halos) total += halo.size();
  out.halo_row.reserve(total);
  for (std::size_t c = 0; c < halos.size(); ++c) {
    out.parts[c].first_halo = static_cast<std::int32_t>(out.halo_row.size());
    out.parts[c].halo = static_cast<std::int32_t>(halos[c].size());
    out.halo_row.insert(out.halo_row.end(), halos[c].begin(), halos[c].end());
    for (const std::int32_t position : halos[c]) out.packet_of[position] = needed;
  }
  out.packets = 0;
  for (std::int32_t &packet : out.packet_of)
    if (packet == needed) packet = out.packets++;
  out.halo_packet.resize(total);
  for (std::size_t j = 0; j < total; ++j) out.halo_packet[j] = out.packet_of[out.halo_row[j]];
}

}  // namespace

Shape shape_for(std::int64_t most_rows, double mean_entries, std::int32_t least_threads) {
  if (most_rows > std::int64_t{most_threads} * most_passes) return {0, 0, 1};
  Shape shape{0, 1, 1};
  // Several lanes a row while there are lanes and entries for them.
  while (shape.group < warp_lanes && most_rows * shape.group * 2 <= most_threads && mean_entries >= 4 * shape.group)
    shape.group *= 2;
  const std::int64_t lanes = std::max<std::int64_t>(1, most_rows) * shape.group;
  while (lanes > std::int64_t{most_threads} * shape.passes) ++shape.passes;
  const std::int64_t warps =
      (lanes + std::int64_t{warp_lanes} * shape.passes - 1) / (std::int64_t{warp_lanes} * shape.passes);
  shape.threads = std::max(least_threads, static_cast<std::int32_t>(warps * warp_lanes));
  return shape;
}

Packed lay_out(const Pattern &a, const Partition &partition) {
  Packed out{};
  for (std::int32_t c = 0; c < partition.parts(); ++c)
    out.most_rows = std::max(out.most_rows, partition.begin[c + 1] - partition.begin[c]);
  out.most_halo = static_cast<std::int32_t>(partition.halo.most);
  out.shape = shape_for(out.most_rows, a.n ? static_cast<double>(a.row_ptr[a.n]) / a.n : 0,
                        partition.parts() > most_cluster ? packet_threads : warp_lanes);
  if (out.shape.passes == 0) return out;
  const std::vector<std::int32_t> length = lengths_of(a);
  out.row_of = positions(length, partition);

  const std::int32_t slice_rows = warp_lanes / out.shape.group, slices = slices_of(out.shape);
  out.slices.reserve(static_cast<std::size_t>(partition.parts()) * (slices + 1));
  std::int32_t first_pair = 0;
  for (std::int32_t c = 0; c < partition.parts(); ++c) {
    Part part{partition.begin[c], partition.begin[c + 1] - partition.begin[c], 0, 0, first_pair, 0};
    for (std::int32_t s = 0; s < slices; ++s) {
      out.slices.push_back(part.pairs);
      if (s * slice_rows >= part.rows) continue;
      // The first row of a slice is its longest.
      const std::int32_t longest = length[out.row_of[part.first_row + s * slice_rows]];
      part.pairs += (longest + 2 * out.shape.group - 1) / (2 * out.shape.group) * warp_lanes;
    }
    out.slices.push_back(part.pairs);
    out.most_pairs = std::max(out.most_pairs, part.pairs);
    first_pair += part.pairs;
    out.parts.push_back(part);
  }
  return out;
}

void pack_entries(const Pattern &a, std::int32_t banks, Packed &packed, int threads) {
  std::vector<std::int32_t> position(packed.row_of.size());
  for (std::size_t at = 0; at < position.size(); ++at) position[packed.row_of[at]] = static_cast<std::int32_t>(at);
  const auto pairs = static_cast<std::size_t>(packed.parts.back().first_pair + packed.parts.back().pairs);
  packed.columns = Filled<std::uint32_t>(pairs);
  packed.entry_of = Filled<std::int32_t>(2 * pairs);
  packed.diagonal_entry = Filled<std::int32_t>(position.size());

  // Each thread takes parts in succession: memory for one is reused for the next.
  const auto parts = static_cast<std::int32_t>(packed.parts.size());
  std::vector<std::vector<std::int32_t>> halos(packed.parts.size());
  const std::int32_t team = std::clamp(threads, 1, parts);
  each_in_team(team, threads, [&](std::int32_t member) {
    PartPacker packer(a, position, banks, packed);
    const auto end = static_cast<std::int32_t>(std::int64_t{parts} * (member + 1) / team);
    for (auto c = static_cast<std::int32_t>(std::int64_t{parts} * member / team); c < end; ++c)
      halos[c] = packer.pack(c);
  });
  number_packets(packed, halos);
}

Packed pack(const Pattern &a, const Partition &partition, std::int32_t banks, int threads) {
  Packed out = lay_out(a, partition);
  if (out.shape.passes > 0) pack_entries(a, banks, out, threads);
  return out;
}

}  // namespace persistent
