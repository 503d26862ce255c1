// SPDX-License-Identifier: BSD-3-Clause
// Checks of descriptions, kernels and kinds as plugins hand them out.
#include "core/registry/validate.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/members.hpp"
#include "sextant/plugin/kinds/device.h"
#include "sextant/plugin/kinds/storage.h"

namespace sextant::registry {
namespace {

constexpr std::size_t longest_name = 255;
constexpr std::uint64_t most_entries = 65536;  // more is not a table but garbage

// A word that can stand in plans, logs and the environment: printable, without blanks, quotes or the characters that
// separate words there. Bytes above 127 must form UTF-8.
std::string name_problem(const char *what, const char *name) {
  if (!name) return text(what, " is NULL");
  const std::size_t length = strnlen(name, longest_name + 1);
  if (length == 0) return text(what, " is empty");
  if (length > longest_name) return text(what, " is longer than ", longest_name, " bytes");
  int continuation = 0;
  for (std::size_t i = 0; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    const bool continues = (byte & 0xC0u) == 0x80u;
    if (continues != (continuation > 0)) return text(what, " is not UTF-8 at byte ", i);
    if (continues)
      --continuation;
    else if (byte >= 0xF8u)
      return text(what, " is not UTF-8 at byte ", i);
    else
      continuation = byte >= 0xF0u ? 3 : byte >= 0xE0u ? 2 : byte >= 0xC0u ? 1 : 0;
    if (byte <= ' ' || byte == 0x7F || std::strchr("\"',=+;", byte))
      return text(what, " has a character that names may not have at byte ", i);
  }
  return continuation ? text(what, " is not UTF-8 at its end") : "";
}

// "sxt.spmv/1", "com.example.fft/2": a dotted name and a revision.
std::string id_problem(const char *what, const char *id) {
  std::string problem = name_problem(what, id);
  if (!problem.empty()) return problem;
  const std::string_view all = id;
  const std::size_t slash = all.rfind('/');
  const std::string_view revision = slash == all.npos ? "" : all.substr(slash + 1);
  const bool number = !revision.empty() && revision.find_first_not_of("0123456789") == revision.npos;
  if (number && slash > 0 && all.substr(0, slash).find('.') != all.npos) return "";
  return text(what, " '", id, "' is not of the form 'dotted.name/revision'");
}

template <class T>
std::string size_problem(const char *what, std::uint64_t size, std::uint64_t needed) {
  if (size < needed) return text(what, " states struct_size ", size, ", but its required members end at ", needed);
  return is_whole<T>(size) ? "" : text(what, " states struct_size ", size, ", which ends inside a member");
}

std::string slot_problem(const sxt_slot &slot, std::uint64_t index) {
  const std::string what = text("slot ", index);
  std::string problem = name_problem((what + "'s role").c_str(), slot.role);
  if (!problem.empty()) return problem;
  if (!slot.alternatives || !slot.alternatives[0]) return what + " ('" + slot.role + "') names no alternative";
  if (slot.min_count > slot.max_count || slot.max_count == 0)
    return text(what, " ('", slot.role, "') asks for ", slot.min_count, " to ", slot.max_count, " instances");
  return "";
}

template <class F>
bool missing(F *function) {
  return function == nullptr;
}

std::string device_ops_problem(const void *table) {
  const auto *ops = static_cast<const sxt_device_ops *>(table);
  if (!ops) return "a device has no operations (ops is NULL)";
  std::string problem =
      size_problem<sxt_device_ops>("its operations table", ops->struct_size, SXT_END_OF(sxt_device_ops, copy));
  if (!problem.empty()) return problem;
  if (missing(ops->count) || missing(ops->describe) || missing(ops->open) || missing(ops->close) ||
      missing(ops->alloc) || missing(ops->free) || missing(ops->copy))
    return "a device needs count, describe, open, close, alloc, free and copy, and one of them is NULL";
  return "";
}

std::string storage_ops_problem(const void *table) {
  const auto *ops = static_cast<const sxt_storage_ops *>(table);
  if (!ops) return "a storage has no operations (ops is NULL)";
  std::string problem =
      size_problem<sxt_storage_ops>("its operations table", ops->struct_size, SXT_END_OF(sxt_storage_ops, bytes));
  if (!problem.empty()) return problem;
  return missing(ops->view) || missing(ops->bytes) ? "a storage needs view and bytes, and one of them is NULL" : "";
}

// Tables of the kinds that core itself calls into.
std::string ops_problem(const sxt_kernel &kernel) {
  const std::string_view kind = kernel.kind;
  if (kind == SXT_KIND_DEVICE) return device_ops_problem(kernel.ops);
  if (kind.starts_with("sxt.storage.")) return storage_ops_problem(kernel.ops);
  return "";
}

std::string tables_problem(const sxt_kernel &kernel) {
  std::uint64_t terms = 0;
  while (kernel.term_names && terms <= SXT_MAX_TERMS && kernel.term_names[terms]) ++terms;
  if (terms > SXT_MAX_TERMS) return text("it names more than ", +SXT_MAX_TERMS, " terms");
  if (kernel.n_slots > most_entries || (kernel.n_slots > 0 && !kernel.slots))
    return text("it states ", kernel.n_slots, " slots", kernel.slots ? "" : " but no array of them");
  for (std::uint64_t i = 0; i < kernel.n_slots; ++i) {
    std::string problem = slot_problem(kernel.slots[i], i);
    if (!problem.empty()) return problem;
  }
  if (kernel.n_slots > 0 && missing(kernel.slot_query))
    return text("it states ", kernel.n_slots, " slots, but its function slot_query is NULL");
  return "";
}

}  // namespace

std::string abi_problem(const sxt_plugin &plugin) {
  if (plugin.magic != SXT_PLUGIN_MAGIC)
    return text("its description does not begin with the magic number of a Sextant plugin (", plugin.magic,
                " instead of ", SXT_PLUGIN_MAGIC, ")");
  if (plugin.abi_major != SXT_PLUGIN_ABI_MAJOR)
    return text("it speaks plugin ABI ", plugin.abi_major, ".", plugin.abi_minor, ", this library speaks ",
                SXT_PLUGIN_ABI_MAJOR, ".", SXT_PLUGIN_ABI_MINOR);
  if (plugin.min_host_minor > SXT_PLUGIN_ABI_MINOR)
    return text("it needs a library with plugin ABI ", plugin.abi_major, ".", plugin.min_host_minor,
                " or newer, this one speaks ", SXT_PLUGIN_ABI_MAJOR, ".", SXT_PLUGIN_ABI_MINOR);
  // Until 1.0 the layout may change from minor to minor.
  if (SXT_PLUGIN_ABI_MAJOR == 0 && plugin.abi_minor != SXT_PLUGIN_ABI_MINOR)
    return text("it speaks plugin ABI 0.", plugin.abi_minor, ", this library exactly 0.", SXT_PLUGIN_ABI_MINOR,
                "; until 1.0 they must agree");
  return size_problem<sxt_plugin>("its description", plugin.struct_size, SXT_END_OF(sxt_plugin, kernels));
}

std::string plugin_problem(const sxt_plugin &plugin) {
  std::string problem = name_problem("its name", plugin.name);
  if (problem.empty()) problem = name_problem("its version", plugin.version);
  if (!problem.empty()) return problem;
  if (plugin.n_kernels > most_entries || (plugin.n_kernels > 0 && !plugin.kernels))
    return text("it states ", plugin.n_kernels, " kernels", plugin.kernels ? "" : " but no array of them");
  if (plugin.n_kinds > most_entries || (plugin.n_kinds > 0 && !plugin.kinds))
    return text("it states ", plugin.n_kinds, " kinds", plugin.kinds ? "" : " but no array of them");
  return plugin.n_kernels + plugin.n_kinds == 0 ? "it describes no kernel and no kind" : "";
}

std::string kernel_problem(const sxt_kernel *kernel) {
  if (!kernel) return "it is NULL";
  std::string problem = size_problem<sxt_kernel>("it", kernel->struct_size, SXT_END_OF(sxt_kernel, run));
  if (problem.empty()) problem = name_problem("its name", kernel->name);
  if (problem.empty()) problem = id_problem("its kind", kernel->kind);
  if (problem.empty()) problem = name_problem("its device", kernel->device);
  if (!problem.empty()) return problem;
  if (missing(kernel->run)) return "its function run is NULL";
  problem = tables_problem(*kernel);
  return problem.empty() ? ops_problem(*kernel) : problem;
}

std::string kind_problem(const sxt_kind *kind) {
  if (!kind) return "it is NULL";
  std::string problem = size_problem<sxt_kind>("it", kind->struct_size, SXT_END_OF(sxt_kind, free_case));
  if (problem.empty()) problem = id_problem("its id", kind->id);
  if (!problem.empty()) return problem;
  if (kind->n_cases > 0 && (missing(kind->make_case) || missing(kind->compare) || missing(kind->free_case)))
    return text("it states ", kind->n_cases, " cases, but make_case, compare or free_case is NULL");
  if (!kind->reference) return "";
  problem = kernel_problem(kind->reference);
  if (!problem.empty()) return "its reference kernel is wrong: " + problem;
  if (std::string_view(kind->reference->kind) != kind->id)
    return text("its reference kernel '", kind->reference->name, "' is of kind '", kind->reference->kind, "'");
  return "";
}

int compare_versions(const std::string &a, const std::string &b) {
  const char *at[2] = {a.c_str(), b.c_str()};
  while (*at[0] || *at[1]) {
    unsigned long long number[2];
    for (int side = 0; side < 2; ++side) {
      char *end = nullptr;
      number[side] = *at[side] >= '0' && *at[side] <= '9' ? std::strtoull(at[side], &end, 10) : 0;
      if (end) at[side] = end;
      at[side] = std::strchr(at[side], '.') ? std::strchr(at[side], '.') + 1 : "";
    }
    if (number[0] != number[1]) return number[0] < number[1] ? -1 : 1;
  }
  return 0;
}

}  // namespace sextant::registry
