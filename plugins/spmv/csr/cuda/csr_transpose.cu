// SPDX-License-Identifier: BSD-3-Clause
#include "csr_transpose.cuh"

#include <algorithm>
#include <cstdint>

#include "plugins/formats/cuda/scatter.hpp"
#include "plugins/formats/cuda/sort.hpp"

namespace sextant::spmv_csr_cuda {

namespace cuda = plugin::cuda;

namespace {

struct WriteRow {
  std::int32_t *row;
  __device__ void operator()(std::int64_t i, std::int64_t k, std::int64_t) const {
    row[k] = static_cast<std::int32_t>(i);
  }
};

template <class T, class Entry>
struct Pick {
  const T *from;
  const Entry *places;
  T *to;
  __device__ void operator()(std::int64_t k) const { to[k] = from[places[k]]; }
};

template <class F>
void with_offset(sxt_index_type type, F &&f) {
  if (type == SXT_I32)
    f(std::int32_t{});
  else
    f(std::int64_t{});
}

}  // namespace

Transposed::Transposed(const sxt_csr &a, const sxt_exec *exec) {
  view_.s = a.s;
  std::swap(view_.s.rows, view_.s.cols);
  const std::int64_t rows = view_.s.rows, nnz = a.s.nnz;
  const auto *source_col = static_cast<const std::int32_t *>(a.col);
  with_offset(a.s.offset_type, [&](auto tag) {
    using Offset = decltype(tag);
    row_ptr_ = cuda::DeviceArray(exec, (rows + 1) * sizeof(Offset), "row pointers of the transpose");
    col_ = cuda::DeviceArray(exec, nnz * sizeof(std::int32_t), "columns of the transpose");
    values_ = cuda::DeviceArray(exec, nnz * plugin::value_bytes(a.s.value_type), "values of the transpose");
    places_ = cuda::DeviceArray(exec, nnz * sizeof(Offset), "the order of the transpose");
    cuda::fill_bytes(exec, row_ptr_.data(), 0, row_ptr_.bytes(), "clear row pointers");
    cuda::count_columns(exec, source_col, nnz, row_ptr_.as<Offset>());
    cuda::exclusive_scan(exec, row_ptr_.as<Offset>(), rows + 1);
    cuda::sorted_places(exec, source_col, nnz, std::max<std::int64_t>(0, rows - 1), places_.as<Offset>());
    if (nnz == 0) return;
    // The row of every entry, then in the new order.
    const cuda::DeviceArray row(exec, nnz * sizeof(std::int32_t), "rows of entries", cuda::Life::call);
    const auto blocks = static_cast<unsigned>(cuda::divide_up<std::int64_t>(nnz, cuda::visit_threads));
    cuda::visit_entries<<<blocks, cuda::visit_threads, 0, cuda::stream_of(*exec)>>>(
        static_cast<const Offset *>(a.row_ptr), std::int64_t{0}, nnz, std::int64_t{0}, a.s.rows,
        WriteRow{row.as<std::int32_t>()});
    cuda::need_launch("a pass over the entries of a matrix");
    cuda::visit_all(
        exec, nnz,
        Pick<std::int32_t, Offset>{row.as<const std::int32_t>(), places_.as<const Offset>(), col_.as<std::int32_t>()});
  });
  view_.row_ptr = row_ptr_.data();
  view_.col = col_.data();
  view_.values = values_.data();
  take_values(a, exec);
}

void Transposed::take_values(const sxt_csr &a, const sxt_exec *exec) const {
  with_offset(a.s.offset_type, [&](auto tag) {
    using Offset = decltype(tag);
    cuda::with_value_words(a.s.value_type, [&](auto word) {
      using Word = decltype(word);
      cuda::visit_all(
          exec, a.s.nnz,
          Pick<Word, Offset>{static_cast<const Word *>(a.values), places_.as<const Offset>(), values_.as<Word>()});
    });
  });
}

}  // namespace sextant::spmv_csr_cuda
