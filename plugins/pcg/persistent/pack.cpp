// SPDX-License-Identifier: BSD-3-Clause
// Packing: rows of a part by falling length into slices, columns renamed to places in the part's own p, halos and the
// packets that fill them.
#include "pack.hpp"

#include <algorithm>
#include <numeric>

namespace persistent {
namespace {

std::int64_t length_of(const Pattern &a, std::int32_t row) { return a.row_ptr[row + 1] - a.row_ptr[row]; }

// Rows of a part from the longest to the shortest, so that slices waste little, and equal ones as the matrix numbers
// them: lanes that stand together then read p from places that do, and shared memory has fewer conflicts.
std::vector<std::int32_t> positions(const Pattern &a, const Partition &partition) {
  std::vector<std::int32_t> row_of = partition.row_of;
  for (std::int32_t c = 0; c < partition.parts(); ++c)
    std::sort(row_of.begin() + partition.begin[c], row_of.begin() + partition.begin[c + 1],
              [&](std::int32_t i, std::int32_t j) {
                const std::int64_t longer = length_of(a, i) - length_of(a, j);
                return longer != 0 ? longer > 0 : i < j;
              });
  return row_of;
}

// What packing one part needs to know of the others.
struct Places {
  std::vector<std::int32_t> part, position;  // of each row
};

class PartPacker {
 public:
  PartPacker(const Pattern &a, const Places &places, Packed &out, std::vector<std::int32_t> &halo_place)
      : a_(a), places_(places), out_(out), halo_place_(halo_place) {}

  // Appends part c, whose rows lie at the given positions.
  void add(std::int32_t c, std::int32_t first, std::int32_t rows) {
    Part part{
        first, rows, static_cast<std::int32_t>(out_.halo_row.size()), 0, static_cast<std::int32_t>(out_.columns.size()),
        0};
    const std::int32_t slice_rows = warp_lanes / out_.shape.group;
    const std::int32_t slices = out_.shape.passes * (out_.shape.threads / warp_lanes);
    for (std::int32_t s = 0; s < slices; ++s) {
      out_.slices.push_back(static_cast<std::int32_t>(out_.columns.size()) - part.first_pair);
      if (s * slice_rows < rows) add_slice(c, part, s * slice_rows, std::min(slice_rows, rows - s * slice_rows));
    }
    part.pairs = static_cast<std::int32_t>(out_.columns.size()) - part.first_pair;
    out_.slices.push_back(part.pairs);
    part.halo = static_cast<std::int32_t>(out_.halo_row.size()) - part.first_halo;
    for (std::int32_t j = 0; j < part.halo; ++j) halo_place_[out_.row_of[out_.halo_row[part.first_halo + j]]] = -1;
    out_.parts.push_back(part);
  }

 private:
  // Entries of a row without the diagonal go round the group's lanes; two in succession of one lane are a pair.
  void add_slice(std::int32_t c, const Part &part, std::int32_t first, std::int32_t rows) {
    const std::int32_t group = out_.shape.group;
    std::int64_t longest = 0;
    for (std::int32_t i = 0; i < rows; ++i)
      longest = std::max(longest, length_of(a_, out_.row_of[part.first_row + first + i]));
    const std::int64_t pairs = (longest + 2 * group - 1) / (2 * group);
    const std::size_t base = out_.columns.size();
    out_.columns.resize(base + pairs * warp_lanes, 0);
    out_.entry_of.resize(2 * out_.columns.size(), -1);
    for (std::int32_t i = 0; i < rows; ++i) {
      const std::int32_t position = part.first_row + first + i, row = out_.row_of[position];
      std::int64_t place = 0;
      for (std::int64_t k = a_.row_ptr[row]; k < a_.row_ptr[row + 1]; ++k) {
        if (a_.col[k] == row) {
          out_.diagonal_entry[position] = static_cast<std::int32_t>(k);
          continue;
        }
        const std::int64_t lane = i * group + place % group, turn = place / group;
        const std::size_t pair = base + turn / 2 * warp_lanes + lane;
        out_.columns[pair] |= static_cast<std::uint32_t>(local(c, part, a_.col[k])) << (turn % 2 ? 16 : 0);
        out_.entry_of[2 * pair + turn % 2] = static_cast<std::int32_t>(k);
        ++place;
      }
    }
  }

  // The place of a row in the part's p. Halo places are marked (they begin behind the largest part, which is not known
  // to be `rows`): most_rows + number.
  std::int32_t local(std::int32_t c, const Part &part, std::int32_t row) {
    const std::int32_t position = places_.position[row];
    if (places_.part[row] == c) return position - part.first_row;
    std::int32_t &number = halo_place_[row];
    if (number < 0) {
      number = static_cast<std::int32_t>(out_.halo_row.size()) - part.first_halo;
      out_.halo_row.push_back(position);
    }
    return out_.most_rows + number;
  }

  const Pattern &a_;
  const Places &places_;
  Packed &out_;
  std::vector<std::int32_t> &halo_place_;
};

// Halo rows in the order of their positions are read in the order in which their owners publish them; places in p keep
// the order of first use, so the list is sorted with the columns following.
void number_packets(Packed &out) {
  std::vector<char> needed(out.row_of.size(), 0);
  for (const std::int32_t position : out.halo_row) needed[position] = 1;
  out.packet_of.assign(out.row_of.size(), -1);
  out.packets = 0;
  for (std::size_t position = 0; position < needed.size(); ++position)
    if (needed[position]) out.packet_of[position] = out.packets++;
}

void sort_halo(Packed &out, const Part &part) {
  std::vector<std::int32_t> order(part.halo), place(part.halo), rows(part.halo);
  std::iota(order.begin(), order.end(), 0);
  const std::int32_t *halo = out.halo_row.data() + part.first_halo;
  std::sort(order.begin(), order.end(), [&](std::int32_t i, std::int32_t j) { return halo[i] < halo[j]; });
  for (std::int32_t j = 0; j < part.halo; ++j) {
    place[order[j]] = j;
    rows[j] = halo[order[j]];
  }
  std::copy(rows.begin(), rows.end(), out.halo_row.begin() + part.first_halo);
  const auto renamed = [&](std::uint32_t column) {
    const auto first = static_cast<std::uint32_t>(out.most_rows);
    return column < first ? column : first + static_cast<std::uint32_t>(place[column - first]);
  };
  for (std::int32_t k = part.first_pair; k < part.first_pair + part.pairs; ++k)
    out.columns[k] = renamed(out.columns[k] & 0xffffu) | renamed(out.columns[k] >> 16) << 16;
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

Packed pack(const Pattern &a, const Partition &partition) {
  Packed out{};
  for (std::int32_t c = 0; c < partition.parts(); ++c)
    out.most_rows = std::max(out.most_rows, partition.begin[c + 1] - partition.begin[c]);
  out.shape = shape_for(out.most_rows, a.n ? static_cast<double>(a.row_ptr[a.n]) / a.n : 0,
                        partition.parts() > most_cluster ? packet_threads : warp_lanes);
  out.row_of = positions(a, partition);
  out.diagonal_entry.assign(a.n, -1);

  Places places{std::vector<std::int32_t>(a.n), std::vector<std::int32_t>(a.n)};
  for (std::int32_t c = 0; c < partition.parts(); ++c)
    for (std::int32_t at = partition.begin[c]; at < partition.begin[c + 1]; ++at) {
      places.part[out.row_of[at]] = c;
      places.position[out.row_of[at]] = at;
    }
  std::vector<std::int32_t> halo_place(a.n, -1);
  PartPacker packer(a, places, out, halo_place);
  for (std::int32_t c = 0; c < partition.parts(); ++c)
    packer.add(c, partition.begin[c], partition.begin[c + 1] - partition.begin[c]);

  for (const Part &part : out.parts) {
    sort_halo(out, part);
    out.most_pairs = std::max(out.most_pairs, part.pairs);
    out.most_halo = std::max(out.most_halo, part.halo);
  }
  number_packets(out);
  out.halo_packet.resize(out.halo_row.size());
  for (std::size_t j = 0; j < out.halo_row.size(); ++j) out.halo_packet[j] = out.packet_of[out.halo_row[j]];
  return out;
}

}  // namespace persistent
