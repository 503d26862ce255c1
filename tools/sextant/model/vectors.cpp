// SPDX-License-Identifier: BSD-3-Clause
// Points of kernels of vectors: operations over lengths from what a call costs to beyond the caches.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "bench/bench.hpp"
#include "model/trial.hpp"
#include "names/names.hpp"
#include "sextant/plugin/kinds/multidot.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/vector.h"
#include "sextant/plugin/kinds/vector_group.h"

namespace tool {
namespace {

// Lengths, each so many times the one before.
struct Lengths {
  double first, factor;
  int count;
};
constexpr Lengths small_lengths = {100, 1.6, 24}, full_lengths = {50, 1.4, 40};
constexpr double tiny = 1e-6;  // repeated updates neither overflow nor vanish

struct Operation {
  int code, vectors;  // vectors: most that it reads or writes
};
using Operations = std::vector<std::pair<std::string, Operation>>;

Operations operations_of(const std::string &kind) {
  if (kind == SXT_KIND_MULTIDOT) return {{"2", {2, 3}}, {"1", {1, 2}}, {"3", {3, 4}}, {"4", {4, 5}}};
  Operations all;
  if (kind == SXT_KIND_VECTOR) {
#define SXT_X(suffix, value, name, formula, reads, writes) all.push_back({name, {value, 3}});
    SXT_VECTOR_TABLE(SXT_X)
#undef SXT_X
    std::swap(all[0], all[SXT_VECTOR_AXPY - 1]);
  } else if (kind == SXT_KIND_REDUCTION) {
#define SXT_X(suffix, value, name, formula, vectors, result) all.push_back({name, {value, 2}});
    SXT_REDUCTION_TABLE(SXT_X)
#undef SXT_X
    std::swap(all[0], all[SXT_REDUCTION_DOT - 1]);
  } else {
#define SXT_X(suffix, value, name, formula, scalars, vectors) all.push_back({name, {value, 8}});
    SXT_VECTOR_GROUP_TABLE(SXT_X)
#undef SXT_X
  }
  return all;
}

// Every kind's query begins with sxt_query and the length.
template <class Q>
Q vector_query(const std::string &kind, sxt_value_type type, std::int64_t n) {
  Q query{};
  query.q.h = {sizeof query, kind.c_str()};
  query.q.expected_runs = usual_runs;
  query.q.value_type = type;
  query.n = n;
  return query;
}

template <class Args>
Args args_of(const std::string &kind, std::int64_t n) {
  Args args{};
  args.h = {sizeof args, kind.c_str()};
  args.n = n;
  return args;
}

class VectorTrial : public SelectionTrial {
 public:
  // kind: lives as long as the process.
  VectorTrial(sxt_context *context, const std::string &kind, const Operation &operation, sxt_value_type type,
              std::int64_t n)
      : SelectionTrial(context),
        kind_(kind),
        operation_(operation),
        type_(type),
        n_(n),
        one_(type, 1),
        tiny_(type, tiny),
        vector_query_(vector_query<sxt_vector_query>(kind, type, n)),
        group_query_(vector_query<sxt_vector_group_query>(kind, type, n)),
        reduction_query_(vector_query<sxt_reduction_query>(kind, type, n)),
        multidot_query_(vector_query<sxt_multidot_query>(kind, type, n)) {
    vector_query_.operation = reduction_query_.operation = group_query_.group = operation.code;
    vector_query_.index_type = indexed() ? SXT_I32 : 0;
    multidot_query_.n_dots = operation.code;
    multidot_query_.distinct = operation.code + 1;
  }

 protected:
  sxt_query &query() override {
    if (kind_ == SXT_KIND_VECTOR) return vector_query_.q;
    if (kind_ == SXT_KIND_REDUCTION) return reduction_query_.q;
    return kind_ == SXT_KIND_MULTIDOT ? multidot_query_.q : group_query_.q;
  }

  sxt_head *operands() override {
    for (int i = 0; i < operation_.vectors; ++i) vectors_.push_back(filled(context(), n_, type_, 1));
    results_ = filled(context(), 16, SXT_F64, 0);
    if (kind_ == SXT_KIND_VECTOR) return vector_args();
    if (kind_ == SXT_KIND_REDUCTION) return reduction_args();
    return kind_ == SXT_KIND_MULTIDOT ? multidot_args() : group_args();
  }

 private:
  bool indexed() const {
    return kind_ == SXT_KIND_VECTOR && (operation_.code == SXT_VECTOR_GATHER || operation_.code == SXT_VECTOR_SCATTER);
  }
  void *vector(int i) const { return sxt_vector_data(vectors_[static_cast<std::size_t>(i)].get()); }

  sxt_head *vector_args() {
    vector_args_ = args_of<sxt_vector_args>(kind_, n_);
    vector_args_.operation = operation_.code;
    vector_args_.index_type = vector_query_.index_type;
    vector_args_.alpha = (operation_.code == SXT_VECTOR_SCALE ? one_ : tiny_).scalar();
    vector_args_.beta = one_.scalar();
    vector_args_.x = vector(0), vector_args_.y = vector(1), vector_args_.z = vector(2);
    if (indexed()) {
      // A permutation that jumps: consecutive places are a large number apart that shares no factor with n.
      std::int64_t step = 2654435761 % std::max<std::int64_t>(n_, 1);
      while (std::gcd(step, n_) != 1) ++step;
      std::vector<std::int32_t> places(static_cast<std::size_t>(n_));
      std::int64_t at = 0;
      for (std::int32_t &place : places) place = static_cast<std::int32_t>(at), at = (at + step) % n_;
      index_ = words(context(), places);
      vector_args_.index = sxt_vector_data(index_.get());
    }
    return &vector_args_.h;
  }
  sxt_head *group_args() {
    group_args_ = args_of<sxt_vector_group_args>(kind_, n_);
    group_args_.group = operation_.code;
    for (sxt_scalar &scalar : group_args_.scalars) scalar = tiny_.scalar();
    for (int i = 0; i < operation_.vectors; ++i) group_args_.vectors[i] = vector(i);
    return &group_args_.h;
  }
  sxt_head *reduction_args() {
    reduction_args_ = args_of<sxt_reduction_args>(kind_, n_);
    reduction_args_.operation = operation_.code;
    reduction_args_.x = vector(0), reduction_args_.y = vector(1);
    reduction_args_.result = sxt_vector_data(results_.get());
    reduction_args_.result_on_device = 1;  // where the device is the host, that is host memory
    return &reduction_args_.h;
  }
  sxt_head *multidot_args() {
    multidot_args_ = args_of<sxt_multidot_args>(kind_, n_);
    multidot_args_.n_dots = operation_.code;
    for (int i = 0; i < operation_.code; ++i) u_[i] = vector(0), v_[i] = vector(1 + i);
    multidot_args_.u = u_, multidot_args_.v = v_;
    multidot_args_.result = sxt_vector_data(results_.get());
    return &multidot_args_.h;
  }

  const std::string &kind_;
  Operation operation_;
  sxt_value_type type_;
  std::int64_t n_;
  Number one_, tiny_;
  sxt_vector_query vector_query_;
  sxt_vector_group_query group_query_;
  sxt_reduction_query reduction_query_;
  sxt_multidot_query multidot_query_;
  sxt_vector_args vector_args_{};
  sxt_vector_group_args group_args_{};
  sxt_reduction_args reduction_args_{};
  sxt_multidot_args multidot_args_{};
  const void *u_[SXT_MULTIDOT_MAX] = {}, *v_[SXT_MULTIDOT_MAX] = {};
  std::vector<Vector> vectors_;
  Vector index_, results_;
};

class Vectors : public PointSource {
 public:
  explicit Vectors(const std::string &kind) : kind_(kind), operations_(operations_of(kind)) {}

  std::vector<std::string> operations() const override {
    std::vector<std::string> names;
    for (const auto &[name, operation] : operations_) names.push_back(name);
    return names;
  }

  std::vector<ModelPoint> places(const ModelSet &set) const override {
    std::vector<ModelPoint> points;
    const Lengths &lengths = set.full ? full_lengths : small_lengths;
    for (const auto &[name, operation] : operations_) {
      if (name != (set.operation.empty() ? operations_.front().first : set.operation)) continue;
      for (int i = 0; i < lengths.count; ++i) {
        ModelPoint point;
        point.shape = name;
        point.size = static_cast<std::int64_t>(lengths.first * std::pow(lengths.factor, i));
        point.sample.family = i;  // a fit is tested on lengths that it has not seen
        points.push_back(point);
      }
    }
    return points;
  }

  std::unique_ptr<Trial> make(sxt_context *context, const ModelSet &set, ModelPoint &point) const override {
    point.name = fmt::format("{}, n = {}", point.shape, point.size);
    point.sample.rows = point.sample.entries = static_cast<double>(point.size);
    const auto found = std::find_if(operations_.begin(), operations_.end(),
                                    [&](const auto &each) { return each.first == point.shape; });
    return std::make_unique<VectorTrial>(context, kind_, found->second, set.type, point.size);
  }

 private:
  std::string kind_;
  Operations operations_;
};

}  // namespace

std::unique_ptr<PointSource> vector_source(const std::string &kind) { return std::make_unique<Vectors>(kind); }

}  // namespace tool
