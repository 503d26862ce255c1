// SPDX-License-Identifier: BSD-3-Clause
// Each format by its definition in plugin/kinds/storage.h, one entry after the other.
#include "core/conformance/storage_entries.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/types.hpp"

namespace sextant::conformance {
namespace {

// An array of the storage, on the host.
class Bytes {
 public:
  Bytes(const void *from, std::int64_t count, std::uint64_t each, const sxt_storage &s, const sxt_exec &exec) {
    require(count >= 0 && count < std::int64_t{1} << 40, SXT_E_PLUGIN, "an array of it would have ", count,
            " elements");
    if (count == 0) return;
    require(from != nullptr, SXT_E_PLUGIN, "an array of ", count, " elements is NULL");
    bytes_.resize(static_cast<std::size_t>(count) * each);
    if (s.space == SXT_SPACE_HOST || !exec.stream) {
      std::memcpy(bytes_.data(), from, bytes_.size());
      return;
    }
    const sxt_host &host = *exec.host;
    require(host.copy(&host, &exec, bytes_.data(), from, bytes_.size()) == SXT_OK &&
                host.synchronize(&host, &exec) == SXT_OK,
            SXT_E_DEVICE, "the storage could not be read back");
  }
  template <class T>
  T at(std::int64_t i) const {
    T value;
    std::memcpy(&value, bytes_.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof value);
    return value;
  }

 private:
  std::vector<char> bytes_;
};

class Indices {
 public:
  Indices(const void *from, std::int64_t count, sxt_index_type type, const sxt_storage &s, const sxt_exec &exec)
      : wide_(type == SXT_I64), bytes_(from, count, wide_ ? 8 : 4, s, exec) {}
  std::int64_t operator[](std::int64_t i) const {
    return wide_ ? bytes_.at<std::int64_t>(i) : bytes_.at<std::int32_t>(i);
  }

 private:
  bool wide_;
  Bytes bytes_;
};

// Offsets that begin at 0 and do not fall.
class Offsets : public Indices {
 public:
  Offsets(const void *from, std::int64_t count, const sxt_storage &s, const sxt_exec &exec)
      : Indices(from, count, s.offset_type, s, exec), last_(count - 1) {
    const Indices &at = *this;
    require(at[0] == 0, SXT_E_PLUGIN, "its offsets begin with ", at[0]);
    for (std::int64_t i = 0; i < last_; ++i) require(at[i] <= at[i + 1], SXT_E_PLUGIN, "its offsets fall at ", i);
  }
  std::int64_t total() const { return (*this)[last_]; }

 private:
  std::int64_t last_;
};

class Values {
 public:
  Values(const void *from, std::int64_t count, const sxt_storage &s, const sxt_exec &exec)
      : type_(s.value_type), bytes_(from, count, static_cast<std::uint64_t>(value_bytes(type_)), s, exec) {}
  std::complex<double> operator[](std::int64_t i) const {
    switch (type_) {
      case SXT_F32: return static_cast<double>(bytes_.at<float>(i));
      case SXT_F64: return bytes_.at<double>(i);
      case SXT_C64: return std::complex<double>(bytes_.at<std::complex<float>>(i));
      default: return bytes_.at<std::complex<double>>(i);
    }
  }

 private:
  sxt_value_type type_;
  Bytes bytes_;
};

class Reader {
 public:
  Reader(const sxt_storage &s, const sxt_exec &exec) : s_(s), exec_(exec) {}
  void read(const sxt_csr &a) {
    const Offsets row_ptr(a.row_ptr, s_.rows + 1, s_, exec_);
    const Indices col(a.col, row_ptr.total(), s_.index_type, s_, exec_);
    const Values values(a.values, row_ptr.total(), s_, exec_);
    for (std::int64_t i = 0; i < s_.rows; ++i)
      for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) add(i, col[k], values[k]);
  }
  void read(const sxt_coo &a) {
    const std::int64_t nnz = a.s.nnz;
    const Indices row(a.row, nnz, s_.index_type, s_, exec_), col(a.col, nnz, s_.index_type, s_, exec_);
    const Values values(a.values, nnz, s_, exec_);
    for (std::int64_t k = 0; k < nnz; ++k) add(row[k], col[k], values[k]);
  }
  void read(const sxt_dia &a) {
    const Values values(a.values, a.n_diagonals * a.ld, s_, exec_);
    if (a.unit_diagonal)  // all ones: not among the values
      for (std::int64_t i = 0; i < std::min(s_.rows, s_.cols); ++i) add(i, i, 1);
    for (std::int64_t d = 0; d < a.n_diagonals; ++d) {
      const std::int64_t offset = a.host_offsets[d];
      for (std::int64_t i = std::max<std::int64_t>(0, -offset); i < std::min(s_.rows, s_.cols - offset); ++i) {
        const std::complex<double> value = values[d * a.ld + i];
        add(i, i + offset, value);
        if (a.symmetric && offset > 0) add(i + offset, i, s_.symmetry == SXT_HERMITIAN ? std::conj(value) : value);
      }
    }
  }
  void read(const sxt_ell &a) {
    const Indices col(a.col, a.width * a.ld, s_.index_type, s_, exec_);
    const Values values(a.values, a.width * a.ld, s_, exec_);
    for (std::int64_t i = 0; i < s_.rows; ++i)
      for (std::int64_t k = 0; k < a.width; ++k)
        if (col[k * a.ld + i] >= 0) add(i, col[k * a.ld + i], values[k * a.ld + i]);
  }
  void read(const sxt_sell &a) {
    const Offsets slice_ptr(a.slice_ptr, a.n_slices + 1, s_, exec_);
    const Indices col(a.col, slice_ptr.total(), s_.index_type, s_, exec_);
    const Values values(a.values, slice_ptr.total(), s_, exec_);
    const Indices perm(a.perm, a.perm ? s_.rows : 0, s_.index_type, s_, exec_);
    for (std::int64_t s = 0; s < a.n_slices; ++s)
      for (std::int64_t at = slice_ptr[s]; at < slice_ptr[s + 1]; ++at) {
        const std::int64_t slot = s * a.slice + (at - slice_ptr[s]) % a.slice;
        if (col[at] >= 0) add(a.perm && slot < s_.rows ? perm[slot] : slot, col[at], values[at]);
      }
  }
  void read(const sxt_bsr &a) {
    const std::int64_t b = a.block;
    const Offsets row_ptr(a.row_ptr, a.block_rows + 1, s_, exec_);
    const Indices col(a.col, a.blocks, s_.index_type, s_, exec_);
    const Values values(a.values, a.blocks * b * b, s_, exec_);
    for (std::int64_t i = 0; i < a.block_rows; ++i)
      for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
        for (std::int64_t c = 0; c < b; ++c)
          for (std::int64_t r = 0; r < b; ++r) add(i * b + r, col[k] * b + c, values[(k * b + c) * b + r]);
  }
  void read(const sxt_strips &a) {
    const Offsets strip_ptr(a.strip_ptr, a.n_slices + 1, s_, exec_),
        gather_ptr(a.gather_ptr, a.n_slices + 1, s_, exec_);
    const Indices base(a.base, a.n_strips, s_.index_type, s_, exec_);
    const Bytes mask(a.mask, a.n_strips, 1, s_, exec_);
    const Indices col(a.col, gather_ptr.total(), s_.index_type, s_, exec_);
    const std::int64_t rest = a.n_strips * a.slice;
    const Values values(a.values, rest + gather_ptr.total(), s_, exec_);
    for (std::int64_t s = 0; s < a.n_slices; ++s) {
      for (std::int64_t k = strip_ptr[s]; k < strip_ptr[s + 1]; ++k)
        for (std::int64_t l = 0; l < a.slice; ++l)
          if (mask.at<std::uint8_t>(k) >> l & 1) add(s * a.slice + l, base[k] + l, values[k * a.slice + l]);
      for (std::int64_t g = gather_ptr[s]; g < gather_ptr[s + 1]; ++g)
        if (col[g] >= 0) add(s * a.slice + (g - gather_ptr[s]) % a.slice, col[g], values[rest + g]);
    }
  }
  std::vector<Entry> entries() && {
    std::sort(entries_.begin(), entries_.end());
    return std::move(entries_);
  }

 private:
  void add(std::int64_t row, std::int64_t column, std::complex<double> value) {
    if (value == 0.0) return;  // padding, as far as anything reads it
    require(row >= 0 && row < s_.rows && column >= 0 && column < s_.cols, SXT_E_PLUGIN, "it holds an entry (", row,
            ", ", column, ") of a ", s_.rows, " x ", s_.cols, " matrix");
    entries_.push_back({row, column, value});
  }

  const sxt_storage &s_;
  const sxt_exec &exec_;
  std::vector<Entry> entries_;
};

template <class T>
const T &storage_as(const sxt_storage &storage) {
  return reinterpret_cast<const T &>(storage);
}

}  // namespace

bool known_format(const char *kind) {
  for (const char *known : {SXT_KIND_STORAGE_CSR, SXT_KIND_STORAGE_COO, SXT_KIND_STORAGE_DIA,
                            SXT_KIND_STORAGE_DIA_SYMMETRIC, SXT_KIND_STORAGE_ELL, SXT_KIND_STORAGE_HYB,
                            SXT_KIND_STORAGE_SELL, SXT_KIND_STORAGE_BSR, SXT_KIND_STORAGE_STRIPS})
    if (std::string_view(kind) == known) return true;
  return false;
}

std::vector<Entry> entries_of(const sxt_storage &storage, const sxt_exec &exec) {
  const std::string_view kind = storage.h.kind;
  Reader reader(storage, exec);
  if (kind == SXT_KIND_STORAGE_CSR) reader.read(storage_as<sxt_csr>(storage));
  if (kind == SXT_KIND_STORAGE_COO) reader.read(storage_as<sxt_coo>(storage));
  if (kind == SXT_KIND_STORAGE_DIA || kind == SXT_KIND_STORAGE_DIA_SYMMETRIC) reader.read(storage_as<sxt_dia>(storage));
  if (kind == SXT_KIND_STORAGE_ELL) reader.read(storage_as<sxt_ell>(storage));
  if (kind == SXT_KIND_STORAGE_HYB) {
    reader.read(storage_as<sxt_hyb>(storage).ell);
    reader.read(storage_as<sxt_hyb>(storage).coo);
  }
  if (kind == SXT_KIND_STORAGE_SELL) reader.read(storage_as<sxt_sell>(storage));
  if (kind == SXT_KIND_STORAGE_BSR) reader.read(storage_as<sxt_bsr>(storage));
  if (kind == SXT_KIND_STORAGE_STRIPS) reader.read(storage_as<sxt_strips>(storage));
  return std::move(reader).entries();
}

}  // namespace sextant::conformance
