// SPDX-License-Identifier: BSD-3-Clause
// The steps by which a matrix is laid out for spmv.csr.hubs.cuda.
#include "hub_build.cuh"

#include <vector>

namespace sextant::spmv_hub_cuda {

namespace {

std::int64_t count_full(const sxt_exec *exec, const unsigned *count, std::int64_t cols, unsigned least,
                        unsigned long long *found) {
  fill_bytes(exec, found, 0, sizeof *found, "clear a counter");
  visit_all(exec, cols, CountFull{count, least, found});
  return static_cast<std::int64_t>(fetch(exec, found, "a number of columns"));
}

DeviceArray place_hubs(Arrays &out, const sxt_csr &a, std::int32_t most_hubs, const sxt_exec *exec) {
  const std::int64_t cols = a.s.cols;
  const auto *col = static_cast<const std::int32_t *>(a.col);
  const auto places = static_cast<std::uint64_t>(cols) + 1;
  DeviceArray place(exec, places * sizeof(std::int32_t), "places of hubs", Life::call);
  fill_bytes(exec, place.data(), 0, place.bytes(), "clear places");
  if (most_hubs == 0) return place;
  const DeviceArray count(exec, static_cast<std::uint64_t>(cols) * sizeof(unsigned), "counts of columns", Life::call);
  fill_bytes(exec, count.data(), 0, count.bytes(), "clear counters");
  visit_all(exec, a.s.nnz, CountColumn{col, count.as<unsigned>()});
  const unsigned least = least_of_hubs(exec, count.as<const unsigned>(), cols, a.s.nnz, most_hubs);
  visit_all(exec, cols, MarkFull{count.as<const unsigned>(), least, place.as<std::int32_t>()});
  exclusive_scan(exec, place.as<std::int32_t>(), cols + 1);
  out.n_hubs = fetch(exec, place.as<const std::int32_t>() + cols, "a number of hubs");
  out.hub_columns =
      DeviceArray(exec, (static_cast<std::uint64_t>(out.n_hubs) + 1) * sizeof(std::int32_t), "hub columns");
  visit_all(exec, cols, KeepHub{place.as<const std::int32_t>(), out.hub_columns.as<std::int32_t>()});
  return place;
}

// Ranks of rows among those with an entry.
DeviceArray rank_rows(Arrays &out, const sxt_csr &a, const sxt_exec *exec) {
  const std::int64_t rows = a.s.rows;
  DeviceArray rank(exec, (static_cast<std::uint64_t>(rows) + 1) * sizeof(std::int32_t), "ranks of rows", Life::call);
  fill_bytes(exec, rank.data(), 0, rank.bytes(), "clear ranks");
  if (a.s.offset_type == SXT_I32)
    visit_all(exec, rows,
              MarkFilledRow<std::int32_t>{static_cast<const std::int32_t *>(a.row_ptr), rank.as<std::int32_t>()});
  else
    visit_all(exec, rows,
              MarkFilledRow<std::int64_t>{static_cast<const std::int64_t *>(a.row_ptr), rank.as<std::int32_t>()});
  exclusive_scan(exec, rank.as<std::int32_t>(), rows + 1);
  const std::int32_t filled = fetch(exec, rank.as<const std::int32_t>() + rows, "a number of rows");
  out.empty_rows = filled < rows;
  if (!out.empty_rows) return rank;
  out.row_of_rank =
      DeviceArray(exec, (static_cast<std::uint64_t>(filled) + 1) * sizeof(std::int32_t), "rows with entries");
  visit_all(exec, rows, KeepRow{rank.as<const std::int32_t>(), out.row_of_rank.as<std::int32_t>()});
  return rank;
}

template <class Offset>
void code_entries(const Arrays &out, const sxt_csr &a, const std::int32_t *place, const sxt_exec *exec) {
  const auto *row_ptr = static_cast<const Offset *>(a.row_ptr);
  const auto blocks = static_cast<unsigned>(divide_up<std::int64_t>(a.s.nnz, visit_threads));
  visit_entries<<<blocks, visit_threads, 0, stream_of(*exec)>>>(
      row_ptr, 0, a.s.nnz, 0, a.s.rows,
      CodeEntry{static_cast<const std::int32_t *>(a.col), place, out.code.as<std::uint32_t>()});
  need_launch("a pass over the entries of a matrix");
  visit_all(exec, out.chunks * hub_chunk - a.s.nnz,
            PadCode{out.code.as<std::uint32_t>(), a.s.nnz, hub_column | static_cast<std::uint32_t>(out.n_hubs)});
}

template <class Offset>
void find_runs(Arrays &out, const sxt_csr &a, const std::int32_t *rank, const sxt_exec *exec) {
  const auto runs = static_cast<std::uint64_t>(out.runs);
  const DeviceArray starts(exec, runs * sizeof(RunStart), "beginnings of runs", Life::call);
  out.rank_of_run = DeviceArray(exec, runs * sizeof(std::int32_t), "ranks of runs");
  visit_all(exec, out.runs,
            FindRun<Offset>{static_cast<const Offset *>(a.row_ptr), rank, a.s.rows, out.chunks, out.runs,
                            starts.as<RunStart>(), out.rank_of_run.as<std::int32_t>()});
  std::vector<RunStart> host(runs);
  fetch(exec, host.data(), starts.as<const RunStart>(), runs, "beginnings of runs");
  // A row that continues beyond the run in which it begins is added up there.
  std::vector<std::int32_t> following(runs);
  std::size_t begins = 0;
  bool any = false;
  for (std::size_t r = 1; r < runs; ++r) {
    const std::int32_t goes_on = host[r].row;
    if (goes_on < 0) continue;
    if (goes_on != host[r - 1].row) begins = r - 1;
    ++following[begins];
    any = true;
  }
  if (!any) return;
  out.following = DeviceArray(exec, runs * sizeof(std::int32_t), "runs that follow");
  copy(exec, out.following.data(), following.data(), out.following.bytes(), "runs that follow");
  wait(exec);  // until they are computed
}

}  // namespace

unsigned least_of_hubs(const sxt_exec *exec, const unsigned *count, std::int64_t cols, std::int64_t nnz,
                       std::int32_t most) {
  const DeviceArray found(exec, sizeof(unsigned long long), "a counter", Life::call);
  // A column with one or two entries is not a hub.
  std::int64_t low = 3, high = std::max<std::int64_t>(4, std::min<std::int64_t>(nnz, 0xfffffff0u));
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (count_full(exec, count, cols, static_cast<unsigned>(middle), found.as<unsigned long long>()) <= most)
      high = middle;
    else
      low = middle + 1;
  }
  return static_cast<unsigned>(low);
}

void place_values(const Arrays &arrays, const sxt_csr &a, const sxt_exec *exec) {
  with_value_words(a.s.value_type, [&](auto word) {
    using Word = decltype(word);
    visit_all(exec, a.s.nnz, PlaceValue<Word>{static_cast<const Word *>(a.values), arrays.values.as<Word>()});
  });
}

void build_arrays(Arrays &out, const sxt_csr &a, std::int32_t most_hubs, std::int64_t warps, const sxt_exec *exec) {
  out.chunks = divide_up<std::int64_t>(a.s.nnz, hub_chunk);
  out.runs = runs_of(out.chunks, warps);
  const auto places = static_cast<std::uint64_t>(out.chunks) * hub_chunk;
  const DeviceArray rank = rank_rows(out, a, exec);
  if (out.chunks == 0) return;
  out.code = DeviceArray(exec, places * sizeof(std::uint32_t), "coded columns");
  out.values = DeviceArray(exec, places * plugin::value_bytes(a.s.value_type), "values in the order of lanes");
  fill_bytes(exec, out.values.data(), 0, out.values.bytes(), "clear values");
  const DeviceArray place = place_hubs(out, a, most_hubs, exec);
  if (a.s.offset_type == SXT_I32) {
    code_entries<std::int32_t>(out, a, place.as<const std::int32_t>(), exec);
    find_runs<std::int32_t>(out, a, rank.as<const std::int32_t>(), exec);
  } else {
    code_entries<std::int64_t>(out, a, place.as<const std::int32_t>(), exec);
    find_runs<std::int64_t>(out, a, rank.as<const std::int32_t>(), exec);
  }
  place_values(out, a, exec);
}

}  // namespace sextant::spmv_hub_cuda
