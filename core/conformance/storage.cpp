// SPDX-License-Identifier: BSD-3-Clause
// Builders of storages: what they hold is read back and compared with the matrices of the products' cases, entry by
// entry: as built, after new values, scaled, its diagonal, its triangles. A format that core does not know is proven by
// products of kernels that read it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>

#include "core/base/shortage.hpp"
#include "core/base/types.hpp"
#include "core/conformance/bench.hpp"
#include "core/conformance/conformance.hpp"
#include "core/conformance/storage_entries.hpp"
#include "sextant/plugin/kinds/spmv.h"

namespace sextant::conformance {
namespace {

constexpr std::uint64_t most_alike_reads = 1000;
using Entries = std::vector<Entry>;

const sxt_storage_ops &ops_of(const Kernel &kernel) { return *static_cast<const sxt_storage_ops *>(kernel.table.ops); }

bool has_op(const sxt_storage_ops &ops, std::size_t end) { return ops.struct_size >= end; }

// The operations that core may call, each once, on one matrix.
class StorageCheck {
 public:
  StorageCheck(const Kernel &kernel, Fitted &fitted, Device &device, int threads)
      : kernel_(kernel), ops_(ops_of(kernel)), fitted_(fitted), device_(device), lending_(device, 0, threads, 0) {}
  void run();

 private:
  const sxt_csr &source() const { return *reinterpret_cast<const sxt_csr *>(fitted_.problem().a); }
  const sxt_exec &exec() const { return lending_.exec(); }
  Entries wanted() const;
  void expect(const void *state, const Entries &want, const char *when);
  void call(sxt_status status, const char *step);
  void change_values();
  DeviceBuffer given(const std::vector<char> &bytes);
  std::vector<char> numbers(std::int64_t n, sxt_value_type type, bool powers) const;
  void check_view(const sxt_storage *view) const;
  void check_diagonal();
  void check_refresh();
  void check_scale();
  void check_triangles();

  const Kernel &kernel_;
  const sxt_storage_ops &ops_;
  Fitted &fitted_;
  Device &device_;
  Lending lending_;
};

Entries StorageCheck::wanted() const {
  sxt_exec on_host = exec();
  on_host.stream = nullptr;  // the case's matrix is the host's
  return entries_of(source().s, on_host);
}

void StorageCheck::call(sxt_status status, const char *step) {
  lending_.call().check(status, kernel_.name(), step);
  require(exec().host->synchronize(exec().host, &exec()) == SXT_OK, SXT_E_PLUGIN, "its work failed after ", step);
}

void StorageCheck::check_view(const sxt_storage *view) const {
  require(view != nullptr, SXT_E_PLUGIN, "it publishes nothing");
  require(view->h.kind && std::strcmp(view->h.kind, kernel_.table.kind) == 0, SXT_E_PLUGIN, "it publishes a '",
          view->h.kind ? view->h.kind : "", "'");
  const sxt_storage &s = source().s;
  require(view->rows == s.rows && view->cols == s.cols && view->value_type == s.value_type, SXT_E_PLUGIN,
          "it publishes ", view->rows, " x ", view->cols, " numbers of ", value_name(view->value_type));
}

void StorageCheck::expect(const void *state, const Entries &want, const char *when) {
  const sxt_storage *view = ops_.view(state);
  check_view(view);
  const Entries got = entries_of(*view, exec());
  const auto [at, wanted] = std::mismatch(got.begin(), got.end(), want.begin(), want.end());
  if (at == got.end() && wanted == want.end()) return;
  const Entry &shown = at == got.end() ? *wanted : *at;
  fail(SXT_E_PLUGIN, "wrong entries ", when, ": it holds ", got.size(), " that are not zero, the matrix ", want.size(),
       "; the first that differs is at (", shown.row, ", ", shown.column, "), ",
       at == got.end() ? text("where it holds none")
                       : text("where it holds ", at->value,
                              wanted == want.end() ? std::string()
                                                   : text(", expected ", wanted->value, " at (", wanted->row, ", ",
                                                          wanted->column, ")")));
}

// As an update does: in place, under the arrays that prepare saw. Symmetry is kept.
void StorageCheck::change_values() {
  with_value_type(source().s.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto *values = static_cast<T *>(const_cast<void *>(source().values));
    for (std::int64_t k = 0; k < source().s.nnz; ++k) values[k] *= -2;
  });
}

void StorageCheck::check_refresh() {
  change_values();
  const std::uint64_t before = lending_.call().allocations;
  if (kernel_.table.refresh) call(kernel_.table.refresh(fitted_.state(), &fitted_.problem(), &exec()), "refresh");
  require(lending_.call().allocations == before, SXT_E_PLUGIN, "refresh allocates memory");
  expect(fitted_.state(), wanted(), "after refresh");
}

DeviceBuffer StorageCheck::given(const std::vector<char> &bytes) {
  DeviceBuffer buffer(device_, bytes.size());
  if (!bytes.empty()) device_.copy(buffer.data(), bytes.data(), bytes.size());
  return buffer;
}

// n values of a type: powers of two, of which products are exact, or numbers that no matrix holds.
std::vector<char> StorageCheck::numbers(std::int64_t n, sxt_value_type type, bool powers) const {
  std::vector<char> bytes;
  with_value_type(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    bytes.resize(static_cast<std::size_t>(n) * sizeof(T));
    for (std::int64_t i = 0; i < n; ++i) {
      const T value = powers ? T(i % 3 == 0 ? 0.5f : i % 3 == 1 ? 2.0f : 4.0f) : T(-77.25f);
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof value);
    }
  });
  return bytes;
}

void StorageCheck::check_diagonal() {
  if (!has_op(ops_, SXT_END_OF(sxt_storage_ops, diagonal)) || !ops_.diagonal) return;
  const sxt_storage &s = source().s;
  const std::int64_t n = std::min(s.rows, s.cols), guard = 8;
  std::vector<char> bytes = numbers(n + guard, s.value_type, false);
  const DeviceBuffer there = given(bytes);
  call(ops_.diagonal(fitted_.state(), there.data(), &exec()), "give its diagonal");
  device_.copy(bytes.data(), there.data(), bytes.size());
  const Entries want = wanted();
  with_value_type(s.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<std::complex<double>> diagonal(static_cast<std::size_t>(n));
    for (const Entry &entry : want)
      if (entry.row == entry.column) diagonal[static_cast<std::size_t>(entry.row)] = entry.value;
    for (std::int64_t i = 0; i < n + guard; ++i) {
      T found;
      std::memcpy(&found, bytes.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof found);
      const std::complex<double> wanted = i < n ? diagonal[static_cast<std::size_t>(i)] : -77.25;
      require(std::complex<double>(found) == wanted, SXT_E_PLUGIN, "wrong diagonal: number ", i, " of ", n, " is ",
              found, ", expected ", wanted);
    }
  });
}

void StorageCheck::check_scale() {
  const sxt_storage &s = source().s;
  if (!has_op(ops_, SXT_END_OF(sxt_storage_ops, scale)) || !ops_.scale || s.rows != s.cols) return;
  const bool single = s.value_type == SXT_F32 || s.value_type == SXT_C64;
  const DeviceBuffer factors = given(numbers(s.rows, single ? SXT_F32 : SXT_F64, true));
  const Entries before = wanted();
  call(ops_.scale(fitted_.state(), factors.data(), &exec()), "scale");
  require(wanted() == before, SXT_E_PLUGIN, "scale changed the caller's values");
  Entries scaled = before;
  const auto factor = [](std::int64_t i) { return i % 3 == 0 ? 0.5 : i % 3 == 1 ? 2.0 : 4.0; };
  for (Entry &entry : scaled) entry.value *= factor(entry.row) * factor(entry.column);
  expect(fitted_.state(), scaled, "after scaling");
}

void StorageCheck::check_triangles() {
  if (!has_op(ops_, SXT_END_OF(sxt_storage_ops, triangle)) || !ops_.triangle || source().s.rows != source().s.cols)
    return;
  const Entries all = wanted();
  for (const sxt_triangle which : {SXT_LOWER, SXT_UPPER})
    for (const bool with_diagonal : {false, true}) {
      Entries want = all;
      std::erase_if(want, [&](const Entry &entry) {
        if (entry.row == entry.column) return !with_diagonal;
        return (which == SXT_LOWER) != (entry.column < entry.row);
      });
      void *part = nullptr;
      const sxt_status status = ops_.triangle(fitted_.state(), which, with_diagonal, &exec(), &part);
      if (status == SXT_NOT_APPLICABLE || status == SXT_E_NOT_SUPPORTED) continue;  // not of this matrix
      call(status, "cut a triangle");
      const struct Part {
        ~Part() {
          if (state && kernel.table.release) kernel.table.release(state);
        }
        void *state;
        const Kernel &kernel;
      } owner{part, kernel_};
      expect(part, want, which == SXT_LOWER ? "in its lower triangle" : "in its upper triangle");
    }
}

void StorageCheck::run() {
  expect(fitted_.state(), wanted(), "as built");
  check_diagonal();
  check_triangles();
  check_refresh();
  check_scale();
  check_refresh();  // new values come unscaled
}

// ---- over cases

class StorageSuite {
 public:
  StorageSuite(const Kernel &kernel, const Kind &products, Device &device, const ConformanceOptions &options,
               const Scope &scope)
      : kernel_(kernel), products_(products), device_(device), options_(options), scope_(scope) {
    if (!options.like) return;
    sxt_spmv_query query{};
    query.m = options.like->matrix_part();
    query.m.q.h = {sizeof query, SXT_KIND_SPMV};
    query.m.q.value_type = query.m.matrix_type;
    query.n_rhs = 1;
    like_ = std::make_unique<Query>(&query.m.q);
  }
  Checked run(const std::function<void(const CheckLine &)> &line);

 private:
  CheckLine check_case(const Case &base);
  bool time_is_up() const {
    return options_.seconds > 0 && proven_ >= options_.enough &&
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() >= options_.seconds;
  }

  const Kernel &kernel_;
  const Kind &products_;
  Device &device_;
  const ConformanceOptions &options_;
  const Scope &scope_;
  std::unique_ptr<Query> like_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int proven_ = 0;
};

Checked StorageSuite::run(const std::function<void(const CheckLine &)> &line) {
  bool all_passed = true, any_applied = false;
  const bool series = like_ && products_.make_case_like;
  const std::uint64_t most = series ? most_alike_reads : products_.table.n_cases;
  for (std::uint64_t i = 0; i < most && !time_is_up(); ++i) {
    std::unique_ptr<Case> base;
    try {
      base = std::make_unique<Case>(products_, options_.seed, i, series ? like_.get() : nullptr);
    } catch (const Error &problem) {
      if (problem.status() == SXT_NOT_APPLICABLE) break;
      throw;
    }
    const sxt_matrix_query part = Query(base->get().query).matrix_part();
    // One operation and one column are enough: a storage knows of neither.
    const auto &asked = *reinterpret_cast<const sxt_spmv_query *>(base->get().query);
    if (part.q.value_type != part.matrix_type || asked.op != SXT_NO_TRANSPOSE || asked.n_rhs != 1) continue;
    const CheckLine result = check_case(*base);
    line(result);
    all_passed = all_passed && (result.passed || !result.applicable);
    any_applied = any_applied || result.applicable;
    proven_ += result.proves;
  }
  return {all_passed && any_applied, proven_};
}

CheckLine StorageSuite::check_case(const Case &base) {
  CheckLine line{kernel_.name(), base.description(), false, true, false, 0, ""};
  bool declines = true;
  try {
    Bench bench(scope_, device_, base.get(), options_.threads);
    Fitted fitted(bench, kernel_, matrix_query(base.get(), kernel_.table.kind), "");
    fitted.prepare(0);
    declines = false;
    StorageCheck(kernel_, fitted, device_, options_.threads).run();
    line.passed = true;
    line.proves = Query(base.get().query).matrix_part().nnz > 1;
  } catch (const Error &problem) {
    if (options_.answers_only && out_of_memory(problem)) throw;
    const bool unsuited = problem.status() == SXT_NOT_APPLICABLE || problem.status() == SXT_E_NOT_SUPPORTED;
    line.applicable = !declines || !unsuited;
    line.sentence = problem.what();
  } catch (const std::bad_alloc &) {
    if (options_.answers_only) throw;
    line.sentence = status_sentence(SXT_E_MEMORY);
  } catch (const std::exception &problem) {
    line.sentence = text("kernel '", kernel_.name(), "' let an exception out: ", problem.what());
  } catch (...) {
    line.sentence = text("kernel '", kernel_.name(), "' let an exception out");
  }
  return line;
}

bool reads(const Kernel &kernel, const char *storage) {
  for (const char *const *each = kernel.table.storages; each && *each; ++each)
    if (std::strcmp(*each, storage) == 0) return true;
  return false;
}

// A format of a third party's: through the products of the kernels that read it.
Checked check_through_readers(const Kernel &kernel, Device &device, const ConformanceOptions &given,
                              const std::function<void(const CheckLine &)> &line, const Scope &scope) {
  ConformanceOptions options = given;
  std::unique_ptr<Query> like;
  options.costs = false;
  if (given.like) {
    sxt_spmv_query query{};
    query.m = given.like->matrix_part();
    query.m.q.h = {sizeof query, SXT_KIND_SPMV};
    query.m.q.value_type = query.m.matrix_type;
    query.m.storage = kernel.table.kind;
    query.n_rhs = 1;
    like = std::make_unique<Query>(&query.m.q);
    options.like = like.get();
  }
  Checked all{true, 0};
  for (const Kernel *reader : trusted_first(scope.kernels(SXT_KIND_SPMV, kernel.table.device))) {
    if (!reads(*reader, kernel.table.kind) || reader->verdict == Verdict::quarantined) continue;
    const auto renamed = [&](const CheckLine &each) {
      CheckLine own = each;
      own.kernel = kernel.name();
      own.check += text(" by ", reader->name());
      line(own);
    };
    const Checked one = check_reader(*reader, kernel, device, options, renamed, scope);
    all.good = all.good && one.good;
    all.proven += one.proven;
    if (all.proven > 0 || !all.good) break;
  }
  all.testable = all.proven > 0 || !all.good;
  if (!all.testable)
    line({kernel.name(), text("kind '", kernel.table.kind, "'"), false, false, false, 0,
          "no product kernel that reads this format proves it"});
  return all;
}

}  // namespace

bool builds_storage(const Kernel &kernel) {
  return std::strstr(kernel.table.kind, ".storage.") != nullptr && kernel.table.ops != nullptr;
}

Checked check_storage(const Kernel &kernel, Device &device, const ConformanceOptions &options,
                      const std::function<void(const CheckLine &)> &line, const Scope &scope) {
  const Kind *products = scope.kind(SXT_KIND_SPMV);
  if (!products || products->table.n_cases == 0) {
    line({kernel.name(), text("kind '", kernel.table.kind, "'"), false, false, false, 0,
          "no kind of products is loaded, whose matrices it would be tested with"});
    return {true, 0, false};
  }
  if (!known_format(kernel.table.kind)) return check_through_readers(kernel, device, options, line, scope);
  return StorageSuite(kernel, *products, device, options, scope).run(line);
}

}  // namespace sextant::conformance
