// SPDX-License-Identifier: BSD-3-Clause
// The map from the caller's entries to their canonical places. Each entry is looked up in its sorted row after the
// matrix is finished: no permutation has to travel through the sort, and the look-ups run in parallel.
#include <cstdint>

#include "core/matrix/assemble_internal.hpp"

namespace sextant::detail {

namespace {

template <class C, class M>
M find(const C *col, const M *start, std::int64_t r, std::int64_t c) {
  return static_cast<M>(std::lower_bound(col + start[r], col + start[r + 1], static_cast<C>(c)) - col);
}

template <class I, class C, class M>
void fill(const EntryArrays &e, const AssemblyOptions &o, const CsrArrays &csr, M *slot, M *mirror) {
  const M *start = csr.row_ptr.as<M>();
  const C *col = csr.col.as<C>();
  parallel_ranges(e.nnz, o.threads, [&](std::int64_t begin, std::int64_t end) {
    scan_entries<I>(e, o.index_base, begin, end, [&](std::int64_t k, std::int64_t r, std::int64_t c) {
      slot[k] = find(col, start, r, c);
      if (mirror) mirror[k] = r == c ? M{-1} : find(col, start, c, r);
      return true;
    });
  });
}

}  // namespace

ValueOrder make_order(const EntryArrays &e, const AssemblyOptions &o, const CsrArrays &csr, std::int64_t repeats,
                      const Allocator &allocator) {
  ValueOrder order;
  order.input_nnz = e.nnz;
  order.symmetry = o.symmetry;
  order.summed = repeats > 0;
  if (!o.keep_order) return order;
  order.kept = true;
  order.map_type = csr.offset_type;
  const auto bytes = static_cast<std::uint64_t>(e.nnz * index_bytes(order.map_type));
  order.slot = Buffer(bytes, allocator);
  if (is_mirrored(o)) order.mirror = Buffer(bytes, allocator);
  with_index_type(e.index_type, [&](auto index) {
    with_index_type(csr.index_type, [&](auto column) {
      with_index_type(order.map_type, [&](auto map) {
        using M = typename decltype(map)::type;
        fill<typename decltype(index)::type, typename decltype(column)::type>(e, o, csr, order.slot.as<M>(),
                                                                              order.mirror.as<M>());
      });
    });
  });
  return order;
}

}  // namespace sextant::detail
