// SPDX-License-Identifier: BSD-3-Clause
// Several devices and ranks as one. Part of sextant/sextant.hpp.
#ifndef SEXTANT_CPP_WORLD_HPP
#define SEXTANT_CPP_WORLD_HPP

#include <exception>
#include <vector>

#include "sextant/cpp/matrix.hpp"
#include "sextant/cpp/pcg.hpp"
#include "sextant/cpp/vector.hpp"

namespace sextant {
inline namespace cpp {

/// A communicator whose ranks are threads of this process. It must outlive the worlds that are made with it.
class ThreadComm : public detail::Object<sxt_comm_threads, sxt_comm_threads_destroy> {
 public:
  /// Of so many ranks. [any-thread]
  explicit ThreadComm(std::int32_t size) : Object(nullptr) {
    make([&](sxt_comm_threads **made) { return sxt_comm_threads_create(size, made); });
  }
  /// That of one rank, for its thread. [any-thread]
  sxt_comm rank(std::int32_t rank) const {
    sxt_comm comm{};
    comm.struct_size = sizeof comm;
    check(sxt_comm_threads_get(get(), rank, &comm));
    return comm;
  }
};

/// How a world waits: the members of sxt_world_options, set to their defaults.
struct WorldOptions : sxt_world_options {
  WorldOptions() { sxt_world_options_init(this, sizeof(sxt_world_options)); }
};
/// How a matrix is divided: the members of sxt_partition_options, set to their defaults.
struct PartitionOptions : sxt_partition_options {
  PartitionOptions() { sxt_partition_options_init(this, sizeof(sxt_partition_options)); }
};

/// A list of contexts, here and in other processes, that work as one: sextant/world.h says which calls every rank must
/// make, and in which order. What it makes are a Matrix and a Vector; products, reductions, vector operations, Pcg and
/// update_values take them. Arrays that a call finds unfit on one rank are refused on every rank.
class World : public detail::Object<sxt_world, sxt_world_destroy> {
 public:
  /// Of this process alone: its contexts, in order. Throws SXT_E_ARGUMENT for none.
  explicit World(std::span<const Context> contexts, const WorldOptions &options = {})
      : World(contexts, nullptr, options) {}
  /// With other ranks, by a communicator, which is copied. Collective.
  World(std::span<const Context> contexts, const sxt_comm &comm, const WorldOptions &options = {})
      : World(contexts, &comm, options) {}

  /// Rank, ranks, members, and whether it has ended. [any-thread]
  sxt_world_info info() const {
    sxt_world_info info{};
    info.struct_size = sizeof info;
    check(sxt_world_get_info(get(), &info));
    return info;
  }
  /// Begins of the members' rows, and their end, where so many are divided by the devices' memory rates.
  std::vector<std::int64_t> plan_rows(std::int64_t rows) const {
    std::vector<std::int64_t> begin(static_cast<std::size_t>(info().members) + 1);
    check(sxt_rows_plan(get(), rows, begin.data()));
    return begin;
  }
  /// Begins of the members' rows of a matrix of this world, and their end.
  std::vector<std::int64_t> rows_of(const Matrix &a) const {
    std::vector<std::int64_t> begin(static_cast<std::size_t>(info().members) + 1);
    check(sxt_matrix_rows(detail::needed("a", a), begin.data()));
    return begin;
  }
  /// The caller's numbers of this process's rows of a matrix, in the order in which vectors hold them.
  std::vector<std::int64_t> order_of(const Matrix &a) const {
    std::int64_t rows = 0;
    for (const std::int64_t length : lengths_of(a)) rows += length;
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
    check(sxt_matrix_order(detail::needed("a", a), order.data()));
    return order;
  }
  /// How many rows each member of this process has of a matrix: the lengths of vectors.
  std::vector<std::int64_t> lengths_of(const Matrix &a) const {
    const std::vector<std::int64_t> begin = rows_of(a);
    const sxt_world_info known = info();
    std::vector<std::int64_t> lengths;
    for (std::int32_t i = known.first_member; i < known.first_member + known.own; ++i)
      lengths.push_back(begin[static_cast<std::size_t>(i) + 1] - begin[static_cast<std::size_t>(i)]);
    return lengths;
  }

  /// A matrix of rows x rows of which this process brings those from row_begin on, as sxt_matrix_from_csr_rows: columns
  /// are global. Collective.
  template <IndexArray P, IndexArray C, Array V>
  Matrix csr_rows(std::int64_t rows, std::int64_t row_begin, const P &row_ptr, const C &col, const V &values,
                  MatrixOptions options = {}) const {
    const auto given = Matrix::given(values, options);
    options.offset_type = index_type_of<detail::element_of<P>>;
    options.index_type = index_type_of<detail::element_of<C>>;
    const auto pointers = detail::span_of(row_ptr);
    const std::int64_t count = static_cast<std::int64_t>(pointers.size()) - 1;
    return made_of([&](bool checks, sxt_matrix **made) {
      if (checks) {
        detail::require(count >= 0, SXT_E_DIMENSION, "row_ptr is empty: it has the end of the last row, too");
        const std::int64_t nnz = static_cast<std::int64_t>(pointers.back()) - options.index_base;
        detail::require_size("col", detail::size_of(col), nnz, "the last pointer says so");
        given.check(nnz);
      }
      return sxt_matrix_from_csr_rows(get(), rows, rows, row_begin, count, pointers.data(), detail::span_of(col).data(),
                                      given.data, &options, made);
    });
  }
  /// The same from entries of any rows, as sxt_matrix_from_coo_rows: this process owns row_count rows. Collective.
  template <IndexArray R, IndexArray C, Array V>
  requires detail::SameValues<R, C> Matrix coo_rows(std::int64_t rows, std::int64_t row_begin, std::int64_t row_count,
                                                    const R &row, const C &col, const V &values,
                                                    MatrixOptions options = {})
  const {
    const auto given = Matrix::given(values, options);
    options.index_type = index_type_of<detail::element_of<C>>;
    const std::int64_t nnz = detail::size_of(col);
    return made_of([&](bool checks, sxt_matrix **made) {
      if (checks) {
        detail::require_size("row", detail::size_of(row), nnz, "one for each entry of col");
        given.check(nnz);
      }
      return sxt_matrix_from_coo_rows(get(), rows, rows, row_begin, row_count, nnz, detail::span_of(row).data(),
                                      detail::span_of(col).data(), given.data, &options, made);
    });
  }
  /// Divides a matrix of one context among the members of a world of one process, as sxt_matrix_split.
  Matrix split(const Matrix &whole, const PartitionOptions &options = {}) const {
    return Matrix(*this, [&](sxt_matrix **made) {
      return sxt_matrix_split(get(), detail::needed("whole", whole), &options, made);
    });
  }

  /// Zeros: lengths[i] values with the i-th member of this process.
  template <Value T>
  Vector zeros(std::span<const std::int64_t> lengths) const {
    require_members("lengths", lengths.size());
    return Vector(*this, value_type_of<T>, [&](sxt_vector **made) {
      return sxt_world_vector_create(get(), lengths.data(), value_type_of<T>, made);
    });
  }
  /// Uses memory where it lies, parts[i] in spaces[i] for the i-th member; it stays the caller's and must outlive the
  /// vector.
  template <Value T>
  requires(!std::is_const_v<T>) Vector wrap(std::span<const std::span<T>> parts, std::span<const sxt_space> spaces)
  const {
    require_members("parts", parts.size());
    require_members("spaces", spaces.size());
    std::vector<std::int64_t> lengths;
    std::vector<void *> data;
    for (const std::span<T> &part : parts)
      lengths.push_back(static_cast<std::int64_t>(part.size())), data.push_back(part.data());
    return Vector(*this, value_type_of<T>, [&](sxt_vector **made) {
      return sxt_world_vector_wrap(get(), lengths.data(), value_type_of<T>, spaces.data(), data.data(), made);
    });
  }
  /// What the i-th member of this process has of a set-up's matrix, and what its last solve took.
  sxt_member_report member(const Pcg &pcg, std::int32_t i) const {
    sxt_member_report report{};
    report.struct_size = sizeof report;
    check(sxt_pcg_get_member(detail::needed("pcg", pcg), i, &report));
    return report;
  }

 private:
  World(std::span<const Context> contexts, const sxt_comm *comm, const WorldOptions &options)
      : Object(contexts.empty() ? nullptr : log_of(contexts.front())) {
    std::vector<sxt_context *> handles;
    for (const Context &context : contexts) handles.push_back(context.get());
    make([&](sxt_world **made) {
      return sxt_world_create(static_cast<std::int32_t>(handles.size()), handles.data(), comm, &options, made);
    });
  }
  // call(checks, made): what it throws about arrays of this rank is told to the others by a call that they refuse, too.
  template <class Call>
  Matrix made_of(Call call) const {
    return Matrix(*this, [&](sxt_matrix **made) {
      try {
        return call(true, made);
      } catch (const error &) {
        static_cast<void>(call(false, nullptr));
        throw;
      }
    });
  }
  void require_members(const char *name, std::size_t given) const {
    detail::require_size(name, static_cast<std::int64_t>(given), info().own, "one for each member of this process");
  }
};

}  // namespace cpp
}  // namespace sextant
#endif
