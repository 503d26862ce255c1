// SPDX-License-Identifier: BSD-3-Clause
// Choosing among the instruction sets a kernel was compiled for. A plugin lists a file under ISA_SOURCES; that file is
// compiled once an instruction set, puts its code into namespace SXT_ISA and defines one table of function pointers
// there:
//
//   namespace my_kernels::SXT_ISA { extern const Table table; const Table table = {&add, &dot}; }
//
// The plugin's other files include this header, write SXT_ISA_TABLE(my_kernels, Table) once at namespace scope and call
// isa_table(level) with sxt_machine.level. ISA files include no C++ standard header: see sextant_add_plugin.
#pragma once

#include <cstdint>

#ifdef SXT_HAS_ISA_avx512
#define SXT_ISA_DECLARE_AVX512(Table) namespace avx512 { extern const Table table; }
#define SXT_ISA_RETURN_AVX512(level) if (level >= 3) return avx512::table;
#else
#define SXT_ISA_DECLARE_AVX512(Table)
#define SXT_ISA_RETURN_AVX512(level)
#endif
#ifdef SXT_HAS_ISA_avx2
#define SXT_ISA_DECLARE_AVX2(Table) namespace avx2 { extern const Table table; }
#define SXT_ISA_RETURN_AVX2(level) if (level >= 2) return avx2::table;
#else
#define SXT_ISA_DECLARE_AVX2(Table)
#define SXT_ISA_RETURN_AVX2(level)
#endif

// Declares the tables of namespace `space`, which must be at global scope here, and space::isa_table(level).
#define SXT_ISA_TABLE(space, Table)                              \
  namespace space {                                              \
  namespace baseline { extern const Table table; }               \
  SXT_ISA_DECLARE_AVX2(Table)                                    \
  SXT_ISA_DECLARE_AVX512(Table)                                  \
  inline const Table &isa_table([[maybe_unused]] std::int32_t level) { \
    SXT_ISA_RETURN_AVX512(level)                                 \
    SXT_ISA_RETURN_AVX2(level)                                   \
    return baseline::table;                                      \
  }                                                              \
  }
