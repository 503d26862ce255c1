// SPDX-License-Identifier: BSD-3-Clause
// A matrix of a world, divided by rows. Each member's rows are two ordinary matrices, of the columns that it owns and
// of those of others: each chooses its own storage and kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/matrix/matrix.hpp"
#include "core/operations/products.hpp"
#include "core/world/blocks.hpp"
#include "core/world/halo.hpp"
#include "core/world/world.hpp"

namespace sextant {

// What the caller says of the rows that this process brings, and of the whole.
struct RowsGiven {
  std::int64_t rows = 0, cols = 0;      // of the whole matrix
  std::int64_t first = 0, count = 0;    // of this process
  sxt_symmetry symmetry = SXT_GENERAL;  // as stated
  bool check_finite = true;
  int index_base = 0;  // of the caller's arrays, for sentences
};
// Throws where the rows are none of the matrix.
void check_given(const RowsGiven &given);

// Numbers of a frame in which ranks say what they bring.
enum Said { said_first, said_count, said_rows, said_cols, said_type, said_symmetry, said_nnz };
// Throws SXT_E_DIMENSION, naming ranks and rows, unless the rows of all ranks follow each other and are all rows.
void require_all_rows(const std::vector<Frame> &frames);

// One call at a time for a world.
class WorldMatrix {
 public:
  // CSR rows with global columns, or any entries of any rows. Collective. Throw what sxt_matrix_from_csr_rows and
  // _from_coo_rows document.
  static std::shared_ptr<WorldMatrix> from_csr(std::shared_ptr<World> world, const RowsGiven &given,
                                               const EntryArrays &entries, const AssemblyOptions &options);
  static std::shared_ptr<WorldMatrix> from_coo(std::shared_ptr<World> world, const RowsGiven &given,
                                               const EntryArrays &entries, const AssemblyOptions &options);
  // A matrix of one context, for a world of one process. Throws what partition() does.
  static std::shared_ptr<WorldMatrix> split(std::shared_ptr<World> world, Matrix &whole, const std::string &method,
                                            int index_base);

  // The same matrix in another world of one process, divided anew.
  std::shared_ptr<WorldMatrix> among(std::shared_ptr<World> world) const;

  // 2^exponent times it, on the same division. Collective.
  std::shared_ptr<WorldMatrix> scaled(int exponent, const char *call) const;

  // One member's part.
  struct Block {
    std::shared_ptr<Matrix> interior, boundary;  // boundary: of 0 rows where it needs nothing of others
    std::vector<std::int64_t> boundary_rows;     // local
    std::unique_ptr<Products> own_product, boundary_product;
    DeviceBuffer index, values;  // of boundary rows, i64, and what they hold meanwhile
  };

  World &world() const noexcept { return *world_; }
  const std::shared_ptr<World> &shared_world() const noexcept { return world_; }
  const RowsGiven &given() const noexcept { return given_; }
  std::int64_t nnz() const noexcept { return nnz_; }  // of the whole
  sxt_value_type value_type() const noexcept { return rows_.csr.value_type; }
  const CsrArrays &own_rows() const noexcept { return rows_.csr; }            // global columns
  const std::vector<std::int64_t> &begin() const noexcept { return begin_; }  // of every member's rows
  std::int64_t rows_of(std::size_t own) const noexcept {
    const std::size_t m = static_cast<std::size_t>(world_->first()) + own;
    return begin_[m + 1] - begin_[m];
  }
  std::int64_t first_row_of(std::size_t own) const noexcept {
    return begin_[static_cast<std::size_t>(world_->first()) + own];
  }
  // The caller's number of the k-th row of this process; of a matrix that was divided, the whole's.
  std::int64_t callers_row(std::int64_t k) const noexcept {
    return order_.empty() ? first_ + k : order_[static_cast<std::size_t>(k)];
  }
  const ChoicePtr &partition_choice() const noexcept { return partition_; }  // NULL: rows came divided
  // The slowest member's memory traffic in a product over the mean, of this process's members.
  double imbalance() const;
  const Block &block(std::size_t own) const noexcept { return blocks_[own]; }
  Halo &halo() noexcept { return *halo_; }
  std::uint64_t bytes() const;
  std::uint64_t version() const noexcept { return version_; }

  // y = alpha A x + beta y on the members' parts; alpha, beta: host scalars or NULL for 1 and 0. All ranks call it, and
  // no gather is held: what fails here is thrown after this process has sent what others wait for. Only enqueued where
  // members have streams.
  void multiply(const void *alpha, std::span<const void *const> x, const void *beta, std::span<void *const> y,
                const Lanes &lanes);
  // The same where own(i) multiplies by the columns that the i-th member owns, once for each that has rows.
  void multiply_by(const std::function<void(std::size_t)> &own, const void *alpha, std::span<const void *const> x,
                   std::span<void *const> y, const Lanes &lanes);
  // For one member, in this thread's stream on its device, of the columns of others, whose values its ghosts hold:
  // y += alpha B ghosts (alpha NULL: 1).
  void add_boundary(std::size_t own, const void *alpha, void *y) const;
  // Seconds of the host in products and in exchanges since it was made.
  double product_seconds() const noexcept { return product_s_; }
  double exchange_seconds() const noexcept { return exchange_s_; }

  // This process's values, as sxt_matrix_update_values takes them. Collective: all ranks or none take theirs.
  void update_values(const void *values, std::int64_t count);

 private:
  WorldMatrix(std::shared_ptr<World> world, const RowsGiven &given) : world_(std::move(world)), given_(given) {}
  // Collective: everything else, from rows_.
  void build(const char *call);
  void agree_on_rows(const char *call);
  void divide_own_rows(const char *call);
  void take_begins(const std::vector<Frame> &frames);
  void make_blocks(const char *call);
  void make_block(std::size_t own, std::vector<std::int64_t> &ghosts);
  void refill_blocks();
  double work_before(std::int64_t row) const;  // bytes of a product, of rows of this process
  RowRange range_of(std::size_t own) const;
  void route_entries(const EntryArrays &arrays, int base, const std::vector<std::int64_t> &begin);
  World::Parcels parcels_of(const void *values) const;
  void route_values(const void *values);

  const std::shared_ptr<World> world_;
  const RowsGiven given_;
  Assembled rows_;  // of this process
  std::int64_t nnz_ = 0, first_ = 0;
  std::vector<std::int64_t> begin_;
  ChoicePtr partition_;
  std::vector<std::int64_t> order_;         // empty: rows are in the caller's order
  std::vector<std::int64_t> wanted_begin_;  // of this process's members, where they were settled before
  std::vector<Block> blocks_;
  std::unique_ptr<Halo> halo_;
  // Of entries that went to the owners of their rows: which of the caller's go to each rank, in order. Empty: none did.
  std::vector<std::vector<std::int64_t>> sent_to_;
  std::vector<std::int64_t> came_from_;  // how many came from each rank
  std::vector<char> routed_;             // values that came, in the order in which they were assembled
  double product_s_ = 0, exchange_s_ = 0;
  std::uint64_t version_ = 1;
};

}  // namespace sextant
