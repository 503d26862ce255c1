// SPDX-License-Identifier: BSD-3-Clause
// Worlds, communicators of threads, and the matrices and vectors that worlds have.
#include "sextant/world.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "abi/handles.hpp"
#include "abi/matrix_options.hpp"
#include "abi/options.hpp"
#include "abi/sized.hpp"
#include "core/base/aligned.hpp"
#include "core/operations/operations.hpp"
#include "core/world/threads_comm.hpp"

using namespace sextant;
using namespace sextant::abi;

struct sxt_comm_threads {
  explicit sxt_comm_threads(std::int32_t size) : comm(size) {}
  ThreadsComm comm;
};

namespace {

constexpr double usual_time_limit = 60;

sxt_world_options world_defaults() {
  sxt_world_options options{};
  options.struct_size = sizeof options;
  options.time_limit = usual_time_limit;
  return options;
}

sxt_partition_options partition_defaults() {
  sxt_partition_options options{};
  options.struct_size = sizeof options;
  return options;
}

// Refuses options that worlds do not have.
void check_of_world(const sxt_matrix_options &options) {
  check_matrix_options(options);
  require(options.ownership == SXT_COPY, SXT_E_NOT_SUPPORTED, "options->ownership is SXT_ADOPT; a world copies rows");
  require(options.triangle == SXT_FULL, SXT_E_NOT_SUPPORTED, "options->triangle is ", options.triangle,
          "; rows of a world hold both triangles, SXT_FULL (0)");
}

using Make = std::shared_ptr<WorldMatrix> (*)(std::shared_ptr<World>, const RowsGiven &, const EntryArrays &,
                                              const AssemblyOptions &);

// entries: without types. Faults of options and arrays are reported at the first gather of `call`.
sxt_status make_rows(sxt_world *world, RowsGiven rows, EntryArrays entries, const sxt_matrix_options *given_options,
                     sxt_matrix **matrix, const char *call, Make create) {
  return guarded(id_of(world), [&] {
    const std::shared_ptr<World> &inner = given(world, "world").world;
    inner->collective(call, [&] {
      std::unique_ptr<sxt_matrix> handle;
      AssemblyOptions assembly;
      inner->together(call, 4, [&](Frame &) {
        given(matrix, "matrix");
        handle = std::make_unique<sxt_matrix>(std::shared_ptr<WorldMatrix>());
        const sxt_matrix_options options = read_sized(given_options, matrix_defaults(), "options");
        check_of_world(options);
        check_given(rows);  // before an array of that length is read
        entries = with_types(entries, options);
        check_arrays(inner->context(0), entries);
        if (entries.layout == EntryArrays::Layout::csr) entries.nnz = last_pointer(entries, options.index_base);
        assembly = assembly_of(options, inner->context(0));
        rows.symmetry = options.symmetry;
        rows.check_finite = assembly.check_finite;
        rows.index_base = options.index_base;
      });
      counting_from(rows.index_base, [&] { handle->world = create(inner, rows, entries, assembly); });
      handle->index_base = rows.index_base;
      *matrix = handle.release();
    });
  });
}

std::uint64_t part_bytes(std::int64_t n, sxt_value_type type, std::size_t i) {
  const std::int64_t each = value_bytes(type);
  require(n >= 0, SXT_E_ARGUMENT, "lengths[", i, "] is negative (", n, ")");
  require(n <= std::numeric_limits<std::int64_t>::max() / each, SXT_E_OVERFLOW, n, " values of ", each,
          " bytes do not fit the address space");
  return static_cast<std::uint64_t>(n * each);
}

// part(context, i, bytes) returns the part of the i-th member of this process.
template <class F>
sxt_status make_vector(sxt_world *world, const int64_t *lengths, sxt_value_type type, sxt_vector **vector, F &&part) {
  return guarded(id_of(world), [&] {
    const std::shared_ptr<World> &inner = given(world, "world").world;
    given(lengths, "lengths");
    given(vector, "vector");
    with_value_type(type, [](auto) {});
    auto made = std::make_shared<WorldVector>();
    made->world = inner;
    made->type = type;
    std::int64_t n = 0;
    for (std::size_t i = 0; i < inner->own(); ++i) {
      const std::uint64_t bytes = part_bytes(lengths[i], type, i);
      require(lengths[i] <= std::numeric_limits<std::int64_t>::max() - n, SXT_E_OVERFLOW,
              "the lengths together do not fit 64 bits");
      n += lengths[i];
      made->parts.push_back(part(inner->context(i), i, bytes));
      made->parts.back().n = lengths[i];
    }
    void *const data = made->parts.size() == 1 ? made->parts.front().data : nullptr;
    *vector = new sxt_vector{inner->shared_context(0), n, type, data, {}, std::move(made)};
  });
}

}  // namespace

// ---- communicators of threads

sxt_status sxt_comm_threads_create(int32_t size, sxt_comm_threads **threads) {
  return guarded(0, [&] {
    given(threads, "threads");
    *threads = new sxt_comm_threads(size);
  });
}

sxt_status sxt_comm_threads_get(sxt_comm_threads *threads, int32_t rank, sxt_comm *comm) {
  return guarded(0, [&] { answer_sized(comm, given(threads, "threads").comm.of(rank), "comm"); });
}

void sxt_comm_threads_destroy(sxt_comm_threads *threads) { destroy(threads); }

// ---- worlds

void sxt_world_options_init(sxt_world_options *options, uint64_t struct_size) {
  write_sized(options, struct_size, world_defaults());
}

sxt_status sxt_world_create(int32_t n, sxt_context *const *contexts, const sxt_comm *comm,
                            const sxt_world_options *options, sxt_world **world) {
  const std::uint64_t id = n > 0 && contexts ? id_of(contexts[0]) : 0;
  return guarded(id, [&] {
    auto handle = std::make_unique<sxt_world>();
    const auto own = [&] {
      given(contexts, "contexts");
      given(world, "world");
      require(n >= 1, SXT_E_ARGUMENT, "n is ", n, "; a process brings one context at least");
      World::Contexts out;
      for (int32_t i = 0; i < n; ++i) out.push_back(given(contexts[i], "an entry of contexts").context);
      return out;
    };
    handle->world = std::make_shared<World>(own, comm, read_sized(options, world_defaults(), "options").time_limit);
    *world = handle.release();
  });
}

void sxt_world_destroy(sxt_world *world) { destroy(world); }

sxt_status sxt_world_get_info(const sxt_world *world, sxt_world_info *info) {
  return guarded(id_of(world), [&] {
    World &inner = *given(world, "world").world;
    answer_sized(info,
                 {sizeof(sxt_world_info), inner.rank(), inner.ranks(), inner.members(), inner.first(),
                  static_cast<std::int32_t>(inner.own()), inner.comm().ended()},
                 "info");
  });
}

sxt_status sxt_rows_plan(const sxt_world *world, int64_t rows, int64_t *begin) {
  return guarded(id_of(world), [&] {
    const World &inner = *given(world, "world").world;
    given(begin, "begin");
    require(rows >= 0, SXT_E_ARGUMENT, "rows is negative (", rows, ")");
    const std::vector<std::int64_t> plan =
        divide(rows, inner.rates(), [](std::int64_t row) { return static_cast<double>(row); });
    std::copy(plan.begin(), plan.end(), begin);
  });
}

// ---- matrices

sxt_status sxt_matrix_from_csr_rows(sxt_world *world, int64_t rows, int64_t cols, int64_t row_begin, int64_t row_count,
                                    const void *row_ptr, const void *col, const void *values,
                                    const sxt_matrix_options *options, sxt_matrix **matrix) {
  return make_rows(world, {rows, cols, row_begin, row_count},
                   entries_of(EntryArrays::Layout::csr, row_count, cols, row_ptr, col, values), options, matrix,
                   "sxt_matrix_from_csr_rows", WorldMatrix::from_csr);
}

sxt_status sxt_matrix_from_coo_rows(sxt_world *world, int64_t rows, int64_t cols, int64_t row_begin, int64_t row_count,
                                    int64_t nnz, const void *row, const void *col, const void *values,
                                    const sxt_matrix_options *options, sxt_matrix **matrix) {
  EntryArrays entries = entries_of(EntryArrays::Layout::coo, rows, cols, row, col, values);
  entries.nnz = nnz;
  return make_rows(world, {rows, cols, row_begin, row_count}, entries, options, matrix, "sxt_matrix_from_coo_rows",
                   WorldMatrix::from_coo);
}

void sxt_partition_options_init(sxt_partition_options *options, uint64_t struct_size) {
  write_sized(options, struct_size, partition_defaults());
}

sxt_status sxt_matrix_split(sxt_world *world, const sxt_matrix *whole, const sxt_partition_options *options,
                            sxt_matrix **matrix) {
  return guarded(id_of(world), [&] {
    const std::shared_ptr<World> &inner = given(world, "world").world;
    const sxt_matrix &source = of_context(whole, "whole");
    given(matrix, "matrix");
    const sxt_partition_options chosen = read_sized(options, partition_defaults(), "options");
    auto handle = std::make_unique<sxt_matrix>(
        WorldMatrix::split(inner, *source.matrix, name_of(chosen.method, "options->method"), source.index_base));
    handle->index_base = source.index_base;
    *matrix = handle.release();
  });
}

sxt_status sxt_matrix_rows(const sxt_matrix *matrix, int64_t *begin) {
  return guarded(id_of(matrix), [&] {
    const sxt_matrix &own = given(matrix, "matrix");
    given(begin, "begin");
    require(own.world != nullptr, SXT_E_ARGUMENT, "matrix is of one context; rows are divided in a world");
    std::copy(own.world->begin().begin(), own.world->begin().end(), begin);
  });
}

sxt_status sxt_matrix_order(const sxt_matrix *matrix, int64_t *order) {
  return guarded(id_of(matrix), [&] {
    const sxt_matrix &own = given(matrix, "matrix");
    given(order, "order");
    require(own.world != nullptr, SXT_E_ARGUMENT, "matrix is of one context; its rows are in the caller's order");
    for (std::int64_t k = 0; k < own.world->own_rows().rows; ++k) order[k] = own.world->callers_row(k);
  });
}

// ---- vectors

sxt_status sxt_world_vector_create(sxt_world *world, const int64_t *lengths, sxt_value_type type, sxt_vector **vector) {
  return make_vector(world, lengths, type, vector, [&](Context &context, std::size_t i, std::uint64_t bytes) {
    WorldVector::Part part;
    part.owned = DeviceBuffer(context.device(), bytes);
    part.data = part.owned.data();
    static constexpr double zeros[2] = {0, 0};
    Operations::of(context).vector(
        {.operation = SXT_VECTOR_FILL, .type = type, .n = lengths[i], .alpha = zeros, .y = part.data});
    return part;
  });
}

sxt_status sxt_world_vector_wrap(sxt_world *world, const int64_t *lengths, sxt_value_type type, const sxt_space *spaces,
                                 void *const *data, sxt_vector **vector) {
  return make_vector(world, lengths, type, vector, [&](Context &context, std::size_t i, std::uint64_t bytes) {
    given(data, "data");
    given(spaces, "spaces");
    check_wrapped(context, data[i], bytes, type, spaces[i]);
    WorldVector::Part part;
    part.data = data[i];
    return part;
  });
}

sxt_status sxt_pcg_get_member(const sxt_pcg *pcg, int32_t member, sxt_member_report *report) {
  return guarded(id_of(pcg), [&] {
    const sxt_pcg &own = given(pcg, "pcg");
    require(own.world != nullptr, SXT_E_ARGUMENT, "pcg is of one context; members are those of a world");
    const auto count = static_cast<std::int32_t>(own.world->matrix().world().own());
    require(member >= 0 && member < count, SXT_E_INDEX, "member ", member, " is outside 0 to ", count - 1);
    answer_sized(report, own.world->member(static_cast<std::size_t>(member)), "report");
  });
}
