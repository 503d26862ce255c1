// SPDX-License-Identifier: BSD-3-Clause
// What follows from a structure alone, made once on the host: levels of the assembly tree, where contribution blocks
// lie, and the work of every launch as lists that blocks of threads look up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/cholesky/shared/tree.hpp"
#include "sextant/plugin/kinds/cholesky.h"

namespace sextant_cholesky_levels {

inline constexpr int small_classes = 4;  // of fronts that one block of threads keeps in shared memory
inline constexpr int panel_columns = 64, panel_rows = 128;
inline constexpr int tile = 64, wide_tile = 128;
inline constexpr int assemble_columns = 8;  // of a front, for one block of threads
inline constexpr int solve_columns = 64;    // of a front, for one task of a solve; also rows below them
inline constexpr std::int64_t inverse_values = std::int64_t{solve_columns} * solve_columns;  // of one triangle
// A front of so many rows and columns is one warp's in a solve; so many of them are one task, fewer with several
// right-hand sides.
inline constexpr int narrow_rows = 64, narrow_columns = 32, narrow_fronts = 8;
// Below a front's columns: its one task of a forward solve with one right-hand side takes so many rows, too.
inline constexpr int solve_rows = 128;
// Right-hand sides of a group, where a solve has more than one; and of all groups that a sweep takes at once.
inline constexpr int tile_columns = 16, most_columns = 64;
inline constexpr int narrow_group = 4;  // right-hand sides of a narrow front, for one warp
// Bytes in front of a solve's numbers: tickets of its four kernels, then a word that says whether waits go on.
inline constexpr std::int64_t solve_counters = 256, solve_tickets = 64;
// From so many on, narrow fronts over which there are narrow ones alone are a kernel's of their own.
inline constexpr std::int64_t many_narrow = 1024;

struct Widths {
  std::int64_t block = 256;      // columns after which a large front's later columns are updated
  std::int64_t number = 8;       // bytes of a number
  std::int64_t most_small = 88;  // KiB of shared memory for a front that is no large one
  std::int64_t columns = 1;      // right-hand sides of a group
  std::int64_t products = 0;     // f32: TF32 products for one of f32, 1 or 3 (product_kernels.cuh); 0: multiply-adds
  bool wide_tiles = true;        // products may go by tiles of 128, as those on tensor cores do
};

// Bytes of shared memory of the classes of small fronts, ascending.
std::array<std::int64_t, small_classes> small_bytes(const Widths &widths);
// Numbers between two columns of a front in shared memory: even, as neighbours are read in pairs.
constexpr std::int64_t small_ld(std::int64_t rows) { return (rows + 1) / 2 * 2; }
// Bytes behind a front that may be read, and are not used.
inline constexpr std::int64_t small_margin = 512;

// A supernode as kernels see it.
struct Front {
  std::int64_t value_at, row_at, update_at;  // in the factor, in the row lists, in its level's buffer
  std::int64_t inverse_at;                   // of its first triangle's inverse, among those of a solve
  std::int32_t first, width, rows, parent;   // first: its first column
  std::int32_t child_begin, child_end;
  std::int32_t buffer;    // 0 or 1: by its level
  std::int32_t factored;  // 0: columns of a Schur complement
};

// What a front needs to know of a child, in the order of Plan::children.
struct Child {
  std::int64_t row_at, update_at;  // of its first row below its columns; of its contribution block
  std::int32_t rows, buffer;       // rows below its columns
};

constexpr bool is_narrow(const Front &front) { return front.rows <= narrow_rows && front.width <= narrow_columns; }

// Work of the blocks first_block .. first_block + blocks - 1 of a launch. Panels: columns k0 .. k1-1. Products: columns
// c0 .. c1-1 lose what the columns k0 .. k1-1 give.
struct Job {
  std::int32_t front, first_block, blocks;
  std::int32_t k0, k1, c0, c1;
  std::int32_t place;  // of the front among the large ones of its level
};

// Jobs first .. first + count - 1, in so many blocks of threads.
struct Group {
  std::int64_t first = 0;
  std::int32_t count = 0;
  std::uint32_t blocks = 0;
  std::int32_t tile = 0;
};

struct Step {
  Group panels, inner;  // inner: the other columns of the block column
};
// near: the next block column, which the next panels wait for; far: all columns beyond it.
struct BlockColumn {
  std::vector<Step> steps;
  Group near, far;
};

struct Level {
  std::array<Group, small_classes> small;  // places in Plan::small
  Group assemble;
  std::vector<BlockColumn> columns;
};

// Tasks of solves; each waits for tasks before it alone. begin, end: rows of the front (forwards) or columns
// (backwards). front < 0: narrow fronts begin .. end-1 of Plan::narrow.
struct Task {
  std::int32_t front, begin, end, reserved;
};
// Tasks of a sweep. Of narrow fronts below all others, which are a kernel's of their own: those before `split` or,
// backwards, those from there on.
struct Tasks {
  std::vector<Task> list;
  std::int64_t split = 0;
};

class Plan {
 public:
  Plan(const sxt_symbolic &s, const Widths &widths, bool solves);

  const sxt_symbolic &s;
  const Widths widths;
  std::vector<Front> fronts;
  std::vector<std::int32_t> super_of;  // of a column
  std::vector<std::int32_t> place;     // of rows in the parent's list
  sextant_cholesky::ChildLists children;
  std::vector<Child> handing;  // the children

  // Factorisations.
  std::vector<Level> levels;        // leaves first
  std::vector<std::int32_t> small;  // small fronts by level and class
  std::vector<Front> small_fronts;  // the same, as kernels read them
  std::vector<Job> jobs;
  std::int64_t update_values[2] = {};  // numbers of the two buffers
  std::int64_t most_large = 0;         // large fronts of one level
  std::int64_t launches = 0;

  // Solves.
  Tasks forward, backward;
  std::vector<Task> triangles;       // on the diagonal of fronts, begin, end: columns; their inverses are made first
  std::vector<std::int32_t> narrow;  // fronts by level

  std::uint64_t bytes() const;

 private:
  using Lists = std::vector<std::vector<std::int32_t>>;
  void find_fronts();
  Lists by_level() const;
  void place_updates(const Lists &lists);
  void describe();
  void find_levels(const Lists &lists);
  void find_tasks(const Lists &lists);
  void add_tasks(const Lists &lists);
  void add_forward(std::int32_t p);
  void add_backward(std::int32_t p);
  void add_narrow(std::vector<Task> &to, std::int32_t first, std::int32_t end);
  void find_triangles();
  int class_of(const Front &front) const;
  std::array<int, small_classes> joined_classes(const std::vector<std::int32_t> &list) const;
  void add_small(Level &level, const std::vector<std::int32_t> &fronts);
  void add_large(Level &level, const std::vector<std::int32_t> &large);
  BlockColumn block_column(const std::vector<std::int32_t> &large, std::int32_t at);
  Group products(std::vector<Job> list);
  template <class F>
  Group group(const std::vector<std::int32_t> &large, F &&job_of);
};

}  // namespace sextant_cholesky_levels
