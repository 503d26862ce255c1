// SPDX-License-Identifier: BSD-3-Clause
#include "ptx/opcodes.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace sextant::retune::ptx {
namespace {

using Table = std::unordered_map<std::string_view, Operation>;

const Table &operations() {
  static const Table *const table = [] {
    auto *all = new Table{
        {"add", Operation::add},          {"sub", Operation::subtract},      {"mul", Operation::multiply},
        {"mad", Operation::multiply_add}, {"shl", Operation::shift_left},    {"neg", Operation::negate},
        {"mov", Operation::move},         {"cvt", Operation::convert},       {"cvta", Operation::address},
        {"ld", Operation::load},          {"st", Operation::store},          {"atom", Operation::atomic},
        {"red", Operation::reduce},       {"prefetch", Operation::prefetch}, {"prefetchu", Operation::prefetch},
        {"bra", Operation::branch},       {"brx", Operation::branch},        {"call", Operation::call},
        {"ret", Operation::leave},        {"exit", Operation::leave}};
    for (const char *name : {"setp", "set", "min", "max", "slct"}) all->emplace(name, Operation::compare);
    for (const char *name :
         {"abs",   "addc", "subc", "madc", "mul24", "mad24", "sad",   "div",      "rem",  "popc", "clz",
          "bfind", "brev", "bfe",  "bfi",  "bmsk",  "szext", "dp4a",  "dp2a",     "fma",  "rcp",  "sqrt",
          "rsqrt", "sin",  "cos",  "lg2",  "ex2",   "tanh",  "testp", "copysign", "selp", "and",  "or",
          "xor",   "not",  "cnot", "lop3", "shr",   "shf",   "prmt",  "fns"})
      all->emplace(name, Operation::pure);
    return all;
  }();
  return *table;
}

// What threads of a block or a warp do together, and what differs from run to run.
const std::unordered_map<std::string_view, std::string_view> &refusals() {
  static const auto *const table = new std::unordered_map<std::string_view, std::string_view>{
      {"ldu", "threads of a warp load from one address"},
      {"bar", "threads of a block wait for each other"},
      {"barrier", "threads of a block or a cluster wait for each other"},
      {"shfl", "threads of a warp exchange values"},
      {"vote", "threads of a warp vote"},
      {"match", "threads of a warp compare values"},
      {"activemask", "it reads which threads of its warp are active"},
      {"redux", "threads of a warp reduce a value"},
      {"elect", "one thread of a warp is elected"},
      {"membar", "it orders memory accesses between threads"},
      {"fence", "it orders memory accesses between threads"},
      {"mbarrier", "threads wait for each other"},
      {"griddepcontrol", "it waits for another kernel"},
      {"mapa", "it reads memory of other blocks of its cluster"},
      {"getctarank", "it asks for its place in a cluster"},
      {"isspacep", "it asks in which memory an address lies"},
      {"nanosleep", "it waits for time"},
      {"trap", "it may end the whole program"},
      {"brkpt", "it may stop for a debugger"},
      {"alloca", "it allocates local memory at run time"},
      {"stacksave", "it allocates local memory at run time"},
      {"stackrestore", "it allocates local memory at run time"},
      {"setmaxnreg", "threads of a warp group share registers"},
      {"pmevent", "it triggers counters"},
      {"cp", "it copies into shared memory"},
      {"ldmatrix", "threads of a warp load together"},
      {"stmatrix", "threads of a warp store together"},
      {"movmatrix", "threads of a warp move a matrix"},
      {"mma", "threads of a warp multiply matrices"},
      {"wmma", "threads of a warp multiply matrices"},
      {"wgmma", "threads of a warp group multiply matrices"},
      {"tcgen05", "threads of a warp group multiply matrices"},
      {"multimem", "it reduces over several devices"}};
  return *table;
}

// Modifiers of arithmetic, comparisons, conversions and branches. Those of memory accesses are looked at one by one.
const std::unordered_set<std::string_view> &modifiers_known() {
  static const auto *const table = new std::unordered_set<std::string_view>{
      // types
      "pred", "b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f32",
      "f64", "bf16", "tf32", "f16x2", "bf16x2", "f32x2", "u16x2", "s16x2", "e4m3x2", "e5m2x2", "v2", "v4",
      // rounding and range
      "rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi", "sat", "satfinite", "ftz", "approx", "full", "relu",
      "NaN", "xorsign", "abs", "noftz",
      // parts and carries
      "hi", "lo", "wide", "cc", "l", "r", "wrap", "clamp", "shiftamt", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16",
      // comparisons
      "eq", "ne", "lt", "le", "gt", "ge", "ls", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan", "and",
      "or", "xor", "finite", "infinite", "number", "notanumber", "normal", "subnormal",
      // address spaces of cvta, branches
      "to", "global", "const", "local", "param", "param::entry", "param::func", "uni", "idx"};
  return *table;
}

bool looked_at_elsewhere(Operation operation) {
  switch (operation) {
    case Operation::load:
    case Operation::store:
    case Operation::atomic:
    case Operation::reduce:
    case Operation::prefetch: return true;
    default: return false;
  }
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    all.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

}  // namespace

bool Opcode::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

Opcode opcode(std::string_view text) {
  Opcode found;
  std::vector<std::string_view> words = split(text);
  found.name = words.front();
  found.modifiers.assign(words.begin() + 1, words.end());
  if (!found.modifiers.empty()) found.type = found.modifiers.back();
  if (const auto why = refusals().find(found.name); why != refusals().end()) {
    found.operation = Operation::refused;
    found.why = why->second;
  } else if (const auto known = operations().find(found.name); known != operations().end()) {
    found.operation = known->second;
    for (const std::string_view modifier : found.modifiers) {
      if (looked_at_elsewhere(found.operation) || modifiers_known().count(modifier)) continue;
      found.operation = Operation::refused;
      found.why = modifier.substr(0, 6) == "shared"
                      ? "it uses shared memory"
                      : "." + std::string(modifier) + " of " + std::string(found.name) + " is not known";
      break;
    }
  }
  return found;
}

}  // namespace sextant::retune::ptx
