// SPDX-License-Identifier: BSD-3-Clause
// PTX of the corpus, and small PTX written by hand.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "ptx/prove.hpp"

namespace retune_test {

// A file of corpus/, compressed.
inline std::string corpus(const std::string &name) {
  const std::string path = SEXTANT_RETUNE_CORPUS "/" + name;
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file) return {};
  std::string text;
  char buffer[1 << 16];
  for (int got; (got = gzread(file, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(got));
  gzclose(file);
  return text;
}

inline const std::string head = ".version 8.4\n.target sm_80\n.address_size 64\n";

inline const std::string registers =
    " .reg .pred %p<10>; .reg .b16 %rs<10>; .reg .b32 %r<100>; .reg .f32 %f<10>; .reg .b64 %rd<20>;";

// A kernel with this body, which begins on line 6 of the text. Its parameters are k_param_0 (n) and k_param_1 (a
// pointer).
inline std::string kernel(const std::string &body) {
  return head + ".visible .entry k(.param .u32 k_param_0, .param .u64 k_param_1)\n{" + registers + "\n" + body +
         "\n}\n";
}

// The index in %r4 below the bound in %r5, and the address of its element in %rd2.
inline const std::string index_and_bound =
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.s32 %r4, %r1, %r2, %r3;\n"
    "ld.param.u32 %r5, [k_param_0];\nld.param.u64 %rd1, [k_param_1];\nsetp.ge.s32 %p1, %r4, %r5;\n"
    "@%p1 bra $END;\nmul.wide.s32 %rd3, %r4, 4;\nadd.s64 %rd2, %rd1, %rd3;\n";
inline const std::string end = "$END:\nret;\n";

inline sextant::retune::ptx::Verdict prove(const std::string &text, const std::string &name = "k") {
  const sextant::retune::ptx::Module module = sextant::retune::ptx::read_module(text);
  return sextant::retune::ptx::Prover(module).prove(name);
}

}  // namespace retune_test
