// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/hash.hpp"
#include "core/base/types.hpp"
#include "core/base/units.hpp"
#include "core/matrix/checks.hpp"
#include "core/matrix/symmetric_enough.hpp"
#include "core/pcg/choosing.hpp"
#include "core/pcg/clock.hpp"
#include "core/pcg/taken_in.hpp"
#include "core/run/truth.hpp"
#include "core/world/loop.hpp"
#include "core/world/pcg.hpp"
#include "core/world/runner.hpp"
#include "core/world/solver.hpp"
#include "sextant/plugin/kinds/pcg.h"
#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/plugin/kinds/residual.h"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant {

namespace {

constexpr const char *create_call = "sxt_pcg_create";
// True residuals that a set-up is worth, where the caller does not say.
constexpr double usual_residuals = 4;

// An entry on its way to the owner of its mirror image.
struct Entry {
  std::int64_t row, column;  // global
  double diagonal;           // of its row
  char value[2 * sizeof(double)];
};

// Sentences of checks on one block count its rows from 0.
template <class F>
void in_rows_from(std::int64_t first, F &&f) {
  try {
    f();
  } catch (const Error &error) {
    throw Error(error.status(),
                text(error.what(), first > 0 ? text("; rows count from row ", first, " of the matrix") : ""));
  }
}

std::uint64_t hash_of(const PcgSettings &settings) {
  std::uint64_t hash = named_by_hand(settings);
  const double numbers[] = {settings.rtol,
                            settings.atol,
                            settings.divergence_limit,
                            settings.time_limit,
                            static_cast<double>(settings.max_iterations),
                            static_cast<double>(settings.stagnation_window),
                            static_cast<double>(settings.check_symmetry),
                            settings.symmetry_tolerance};
  return fnv1a(numbers, sizeof numbers, hash);
}

}  // namespace

WorldPcg::WorldPcg(std::shared_ptr<WorldMatrix> matrix, const PcgSettings &settings)
    : callers_(std::move(matrix)), matrix_(callers_), settings_(settings) {
  if (settings_.rtol < 0) settings_.rtol = default_rtol(matrix_->value_type());
  matrix_->world().together(create_call, 4, [&](Frame &) {
    check_settings(settings_, matrix_->value_type());
    check_settings_of_world(*matrix_, settings_);
  });
  matrix_->world().together(create_call, hash_of(settings_), [](Frame &) {});  // all ranks want the same
  set_up();
}

WorldPcg::~WorldPcg() = default;

void WorldPcg::check_settings_of_world(const WorldMatrix &matrix, const PcgSettings &settings) {
  const auto none_of = [](bool given, const char *name, const char *instead) {
    require(!given, SXT_E_NOT_SUPPORTED, "a world has no ", name, instead);
  };
  const std::string &engine = settings.engine;
  require(engine.empty() || engine == WorldLoop::on_devices || engine == WorldLoop::by_host ||
              WorldSolver::members_asked(engine, matrix.world()) > 0,
          SXT_E_NOT_SUPPORTED, "a world has no engine ", engine, "; it has ", WorldLoop::by_host, ", ",
          WorldLoop::on_devices, " and ", WorldSolver::on_members, "N");
  none_of(!settings.format.empty(), "options->format", ": each block of each member chooses its storage");
  none_of(settings.null_space_size != 0, "options->null_space", ": A must be definite");
  none_of(settings.reorder > 0, "options->reorder", ": renumber the rows before they are divided");
  none_of(settings.probe > 0, "options->probe", "");
  const std::int32_t recurrence = recurrence_wanted(settings);
  none_of(recurrence != 0 && recurrence != SXT_RECURRENCE_CHRONOPOULOS_GEAR, "recurrence but chronopoulos-gear", "");
  for (std::size_t i = 0; i < matrix.world().own(); ++i)
    if (!settings.preconditioner.empty() && settings.preconditioner != "none")
      check_method(settings.preconditioner, matrix.world().context(i));
}

void WorldPcg::set_up() {
  const Clock clock;
  version_ = 0;
  loop_.reset();
  parts_.clear();
  notes_.clear();
  matrix_ = callers_;
  const DiagonalRange diagonal = check_matrix();
  if (settings_.check_symmetry && matrix_->world().ranks() > 1) check_mirror_images();
  settle_method(diagonal);
  take_in(diagonal);
  matrix_->world().together(create_call, 3, [&](Frame &) {
    parts_.resize(matrix_->world().own());
    for (std::size_t i = 0; i < parts_.size(); ++i) make_part(i);
    loop_ = WorldLoop::make(*this, why_no_loop_);
  });
  version_ = callers_->version();
  setup_s_ = clock.seconds();
}

// Of the diagonals of all members that have rows.
DiagonalRange WorldPcg::check_matrix() {
  const std::vector<Frame> &frames = matrix_->world().together(create_call, 1, [&](Frame &mine) {
    const SymmetryTolerance tolerance(settings_.symmetry_tolerance, matrix_->value_type());
    Buffer work;
    equal_.assign(matrix_->world().own(), 0);
    // One process has all rows: they are compared at once, and nothing is left to compare across members.
    const bool alone = matrix_->world().ranks() == 1;
    const bool whole = alone && settings_.check_symmetry &&
                       check_hermitian(matrix_->own_rows(), matrix_->world().context(0).threads(), work, tolerance);
    for (std::size_t i = 0; i < matrix_->world().own(); ++i) {
      if (matrix_->rows_of(i) == 0) continue;
      Matrix &interior = *matrix_->block(i).interior;
      const int threads = matrix_->world().context(i).threads();
      in_rows_from(matrix_->first_row_of(i), [&] {
        const bool equal =
            alone ? whole : settings_.check_symmetry && check_hermitian(interior.csr(), threads, work, tolerance);
        equal_[i] = equal;
        if (equal) interior.found_symmetry(interior.value_type() <= SXT_F64 ? SXT_SYMMETRIC : SXT_HERMITIAN);
        const DiagonalRange range = check_diagonal(interior.csr(), threads, tolerance);
        require(std::isfinite(range.greatest), SXT_E_NOT_FINITE, "the diagonal of A holds infinity");
        mine.members[i].values = {range.least, range.greatest};
      });
    }
  });
  DiagonalRange out;
  bool any = false;
  each_member(frames, [&](const Frame::OfMember &member) {
    const double least = member.values[0], greatest = member.values[1];
    if (least == 0 && greatest == 0) return;  // without rows
    matrix_->world().require_sound(least > 0 && least <= greatest && std::isfinite(greatest), "a diagonal from ", least,
                                   " to ", greatest);
    out.least = any ? std::min(out.least, least) : least;
    out.greatest = any ? std::max(out.greatest, greatest) : greatest;
    any = true;
  });
  return out;
}

void WorldPcg::settle_method(const DiagonalRange &diagonal) {
  method_ = settings_.preconditioner;
  why_method_ = "asked for";
  if (!method_.empty()) return;
  const bool varies = diagonal.greatest > diagonal.least;
  method_ = varies ? "jacobi" : "none";
  why_method_ = varies ? "the diagonal varies; a world tries no others by itself"
                       : "the diagonal is constant, so that scaling by it changes nothing";
}

// As a solver of one context takes its matrix in: near 1.
void WorldPcg::take_in(const DiagonalRange &diagonal) {
  exponent_ = exponent_near(callers_->value_type(), diagonal);
  if (exponent_ == 0) return;
  matrix_ = callers_->scaled(exponent_, create_call);
  for (std::size_t i = 0; i < matrix_->world().own(); ++i)
    matrix_->block(i).interior->found_symmetry(callers_->block(i).interior->known_symmetry());
  notes_.push_back(text("A is far from 1: solved with 2^", exponent_, " A, which changes no digit"));
}

// ---- symmetry across members

// Of every row of this process, as a real number.
static std::vector<double> diagonal_of(const WorldMatrix &matrix) {
  std::vector<double> out;
  for (std::size_t i = 0; i < matrix.world().own(); ++i) {
    const CsrArrays &csr = matrix.block(i).interior->csr();
    for (std::int64_t row = 0; row < csr.rows; ++row) {
      double value = 0;
      for (std::int64_t k = offset_at(csr, row); k < offset_at(csr, row + 1); ++k)
        if (column_at(csr, k) == row)
          with_value_type(csr.value_type, [&](auto tag) {
            value = static_cast<double>(std::real(csr.values.as<typename decltype(tag)::type>()[k]));
          });
      out.push_back(value);
    }
  }
  return out;
}

World::Parcels WorldPcg::boundary_entries(const std::vector<double> &diagonal) const {
  const World &world = matrix_->world();
  const CsrArrays &rows = matrix_->own_rows();
  const std::vector<std::int64_t> &begin = matrix_->begin();
  const std::int64_t first = matrix_->first_row_of(0);
  const auto each = static_cast<std::size_t>(value_bytes(rows.value_type));
  World::Parcels out(static_cast<std::size_t>(world.ranks()));
  for (std::size_t i = 0; i < world.own(); ++i)
    for (const std::int64_t local : matrix_->block(i).boundary_rows) {
      const std::int64_t row = matrix_->first_row_of(i) + local, at = row - first;
      for (std::int64_t k = offset_at(rows, at); k < offset_at(rows, at + 1); ++k) {
        const std::int64_t column = column_at(rows, k);
        const auto owner = std::upper_bound(begin.begin(), begin.end(), column) - begin.begin() - 1;
        if (owner == world.first() + static_cast<std::int32_t>(i)) continue;
        Entry entry{row, column, diagonal[static_cast<std::size_t>(at)], {}};
        std::memcpy(entry.value, rows.values.as<char>() + static_cast<std::size_t>(k) * each, each);
        const char *bytes = reinterpret_cast<const char *>(&entry);
        std::vector<char> &to = out[static_cast<std::size_t>(world.rank_of(static_cast<std::int32_t>(owner)))];
        to.insert(to.end(), bytes, bytes + sizeof entry);
      }
    }
  return out;
}

// Each entry that came, (i, j), against (j, i) here. Ranks come in order and each sends its rows in order, so that the
// images that a row j is asked for ascend: one cursor a row finds them all.
void WorldPcg::compare_entries(std::size_t rank, const std::vector<char> &entries, const std::vector<double> &diagonal,
                               std::vector<std::int64_t> &cursor) const {
  const CsrArrays &rows = matrix_->own_rows();
  const std::int64_t first = matrix_->first_row_of(0);
  const SymmetryTolerance tolerance(settings_.symmetry_tolerance, rows.value_type);
  with_value_type(rows.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::size_t at = 0; at < entries.size(); at += sizeof(Entry)) {
      Entry entry;
      std::memcpy(&entry, &entries[at], sizeof entry);
      T theirs;
      std::memcpy(&theirs, entry.value, sizeof theirs);
      const std::int64_t row = entry.column - first;
      require_delivered(row >= 0 && row < rows.rows && entry.row >= 0 && entry.row < rows.cols, "rank ", rank,
                        " sends the entry at row ", entry.row, ", column ", entry.column);
      std::int64_t &at_mirror = cursor[static_cast<std::size_t>(row)];
      const std::int64_t end = offset_at(rows, row + 1);
      while (at_mirror < end && column_at(rows, at_mirror) < entry.row) ++at_mirror;
      const bool there = at_mirror < end && column_at(rows, at_mirror) == entry.row;
      const T ours = there ? rows.values.as<T>()[at_mirror] : T(0);
      T mirrored = theirs;
      if constexpr (is_complex<T>) mirrored = std::conj(theirs);
      const double scale = std::sqrt(std::fabs(entry.diagonal) * std::fabs(diagonal[static_cast<std::size_t>(row)]));
      require(tolerance.allows(static_cast<double>(std::abs(ours - mirrored)), scale, 0), SXT_E_NOT_SYMMETRIC,
              "the entry at row ", entry.row, ", column ", entry.column, " (counting from 0) is ", theirs,
              ", its mirror image ", there ? "" : "is missing, as if ", ours,
              ": conjugate gradients need a symmetric (Hermitian) matrix");
    }
  });
}

// Entries between two members, which none of them has both of.
void WorldPcg::check_mirror_images() {
  std::vector<double> diagonal;
  const World::Parcels in = matrix_->world().swap(create_call, 5, sizeof(Entry), [&] {
    diagonal = diagonal_of(*matrix_);
    return boundary_entries(diagonal);
  });
  matrix_->world().together(create_call, 2, [&](Frame &) {
    std::vector<std::int64_t> cursor(static_cast<std::size_t>(matrix_->own_rows().rows));
    for (std::size_t row = 0; row < cursor.size(); ++row)
      cursor[row] = offset_at(matrix_->own_rows(), static_cast<std::int64_t>(row));
    for (std::size_t r = 0; r < in.size(); ++r) compare_entries(r, in[r], diagonal, cursor);
  });
}

// ---- parts

// Apart from what sxt_spmv multiplies by: that sees no more than what the caller said of the matrix.
std::unique_ptr<Runner> WorldPcg::make_product(std::size_t own) const {
  const std::shared_ptr<Matrix> &interior = matrix_->block(own).interior;
  sxt_spmv_query query{};
  const double iterations = settings_.expected_iterations > 0 ? settings_.expected_iterations : usual_iterations;
  query.m = interior->query_part(SXT_KIND_SPMV, sizeof query, settings_.expected_solves * iterations);
  if (equal_[own]) query.m.symmetry = interior->known_symmetry();
  query.op = SXT_NO_TRANSPOSE;
  query.n_rhs = 1;
  return make_runner(matrix_->world().context(own), query.m.q, "pcg/product", interior.get(), nullptr,
                     named_by_hand(settings_));
}

void WorldPcg::multiply_own(std::size_t own, const void *x, void *y) const {
  with_value_type(matrix_->value_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    static const T one(1), zero(0);
    sxt_spmv_args args{};
    args.h = {sizeof args, SXT_KIND_SPMV};
    args.op = SXT_NO_TRANSPOSE;
    args.n_rhs = 1;
    args.alpha.value = &one;
    args.beta.value = &zero;
    args.x = x;
    args.y = y;
    parts_[own].product->run(&args.h);
  });
}

std::unique_ptr<Runner> WorldPcg::make_preconditioner(std::size_t own) const {
  const std::shared_ptr<Matrix> &interior = matrix_->block(own).interior;
  Context &context = matrix_->world().context(own);
  sxt_preconditioner_query query{};
  const double iterations = settings_.expected_iterations > 0 ? settings_.expected_iterations : usual_iterations;
  query.m = interior->query_part(SXT_KIND_PRECONDITIONER, sizeof query, settings_.expected_solves * iterations);
  if (query.m.symmetry == SXT_GENERAL)  // compared, or the caller's word
    query.m.symmetry = interior->value_type() <= SXT_F64 ? SXT_SYMMETRIC : SXT_HERMITIAN;
  std::strncpy(query.method, method_.c_str(), sizeof query.method - 1);
  return make_runner(context, query.m.q, "pcg/preconditioner", interior.get(), nullptr, named_by_hand(settings_));
}

void WorldPcg::make_part(std::size_t own) {
  const WorldMatrix::Block &block = matrix_->block(own);
  Context &context = matrix_->world().context(own);
  Device &device = context.device();
  Part &part = parts_[own];
  const std::int64_t rows = matrix_->rows_of(own), each = value_bytes(matrix_->value_type());
  const auto bytes = [&](std::int64_t count) { return static_cast<std::uint64_t>(count * each); };
  for (DeviceBuffer *vector : {&part.r, &part.p, &part.s, &part.w, &part.residual})
    *vector = DeviceBuffer(device, bytes(rows));
  part.norms = DeviceBuffer(device, sizeof(sxt_residual_norms), device.on_host() ? SXT_SPACE_DEVICE : SXT_SPACE_PINNED);
  if (rows == 0) return;
  part.joined = block.interior;
  if (block.boundary->csr().nnz > 0) {
    Assembled joined;
    joined.csr = join_blocks(block.interior->csr(), block.boundary->csr(), block.boundary_rows, context.allocator());
    part.joined = std::make_shared<Matrix>(matrix_->world().shared_context(own), std::move(joined), SXT_GENERAL, false);
    part.extended = DeviceBuffer(device, bytes(part.joined->cols()));
  }
  std::string passed_over;
  ChoicePtr truth = choose_truth(*part.joined, usual_residuals * settings_.expected_solves, "pcg/truth", passed_over);
  if (!passed_over.empty()) notes_.push_back(passed_over);
  part.truth = std::make_unique<Runner>(context, std::move(truth), part.joined.get());
  part.product = make_product(own);
  if (!preconditioned()) return;
  part.u = DeviceBuffer(device, bytes(rows));
  part.preconditioner = make_preconditioner(own);
}

// ---- what is told

Explanation WorldPcg::explain() const {
  const World &world = matrix_->world();
  Explanation out;
  out.title = "Conjugate gradients in a world: " + text(matrix_->given().rows, " unknowns, ", matrix_->nnz(),
                                                        " nonzeros, ", value_name(matrix_->value_type()));
  out.facts = {{"members", text(world.members(), " on ", world.ranks(), world.ranks() == 1 ? " rank" : " ranks")},
               {"this process", text("rank ", world.rank(), ", members ", world.first(), " to ",
                                     world.first() + static_cast<std::int32_t>(world.own()) - 1)},
               {"preconditioner", method_ + ", by each member on its own rows and columns (" + why_method_ + ")"},
               {"recurrence", "chronopoulos-gear"},
               {"iterations", loop_ ? "captured, on the devices alone; the host looks at blocks of them"
                                    : "driven by the host, " + why_no_loop_},
               {"setup", seconds_text(setup_s_)}};
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const WorldMatrix::Block &block = matrix_->block(i);
    const std::int32_t member = world.first() + static_cast<std::int32_t>(i);
    out.facts.push_back(
        {text("member ", member),
         text(world.context(i).describe(), "; ", matrix_->rows_of(i), " rows from ", matrix_->first_row_of(i), ", ",
              block.interior->csr().nnz, " entries in its own columns, ", block.boundary->csr().nnz, " in ",
              matrix_->halo().received(i), " columns of others")});
    const auto add = [&](ChoicePtr choice, const char *role) {
      auto named = std::make_shared<Choice>(*choice);
      named->role = text("member ", member, "/", role);
      out.choices.push_back(std::move(named));
    };
    if (matrix_->rows_of(i) == 0) continue;
    add(parts_[i].product->prepared().shared_choice(), "product, own columns");
    if (block.boundary->csr().nnz > 0)
      add(block.boundary_product->choice(SXT_NO_TRANSPOSE), "product, columns of others");
    if (parts_[i].preconditioner) add(parts_[i].preconditioner->prepared().shared_choice(), "preconditioner");
    add(parts_[i].truth->prepared().shared_choice(), "truth");
    for (const ChoicePtr &choice : matrix_->halo().choices(i)) add(choice, "exchange");
    if (loop_)
      for (const ChoicePtr &choice : loop_->choices(i)) add(choice, "iteration");
  }
  out.notes = notes_;
  return out;
}

sxt_member_report member_blocks(WorldMatrix &matrix, std::size_t own) {
  const WorldMatrix::Block &block = matrix.block(own);
  sxt_member_report out{};
  out.struct_size = sizeof out;
  out.rows = matrix.rows_of(own);
  out.own_entries = block.interior->csr().nnz;
  out.boundary_entries = block.boundary->csr().nnz;
  out.boundary_rows = static_cast<std::int64_t>(block.boundary_rows.size());
  out.halo_received = matrix.halo().received(own);
  out.halo_sent = matrix.halo().sent(own);
  return out;
}

sxt_member_report WorldPcg::member(std::size_t own) const {
  sxt_member_report out = member_blocks(*matrix_, own);
  out.product_seconds = product_s_;
  out.exchange_seconds = exchange_s_;
  out.waiting_seconds = waiting_s_;
  if (loop_) {
    out.waiting_seconds += loop_->waited(own);
    out.product_seconds += loop_->seconds() - loop_->waited(own);
  }
  return out;
}

}  // namespace sextant
