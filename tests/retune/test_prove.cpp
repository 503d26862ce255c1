// SPDX-License-Identifier: BSD-3-Clause
// The proof: kernels that a person can check, every way in which the shape may get out, and the lines of refusals.
#include "support.hpp"

namespace {

using namespace retune_test;

TEST(RetuneProof, AnElementwiseKernelIsProven) {
  const auto verdict =
      prove(kernel(index_and_bound + "ld.global.f32 %f1, [%rd2];\nst.global.f32 [%rd2], %f1;\n" + end));
  EXPECT_TRUE(verdict.proven) << verdict.line << ": " << verdict.reason;
  EXPECT_FALSE(verdict.reorders);
}

// Each body's last line is the one refused.
struct Refused {
  const char *body, *reason;
};

const Refused refusals[] = {
    {"st.global.u32 [%rd2], %r2;", "%ntid.x reaches st"},
    {"st.global.u32 [%rd2], %r3;", "%tid.x reaches st"},
    {"sub.s32 %r6, %r4, %r3;\nst.global.u32 [%rd2], %r6;", "%tid.x reaches st"},
    {"setp.eq.s32 %p2, %r3, 0;", "%tid.x reaches setp"},
    {"and.b32 %r6, %r3, 31;", "%tid.x reaches and"},
    {"shr.u32 %r6, %r3, 5;", "%tid.x reaches shr"},
    {"div.u32 %r6, %r4, %r2;", "%ntid.x reaches div"},
    {"mul.hi.u32 %r6, %r3, 7;", "%tid.x reaches mul"},
    {"cvt.u16.u32 %rs1, %r3;", "%tid.x reaches cvt"},
    {"cvt.rn.f32.u32 %f1, %r2;", "%ntid.x reaches cvt"},
    {"add.cc.u32 %r6, %r3, 1;", "%tid.x reaches add"},
    {"mul.lo.s32 %r6, %r3, %r5;\nst.global.u32 [%rd2], %r6;", "%tid.x reaches st"},
    {"mov.u32 %r6, %laneid;", "%laneid"},
    {"mov.u32 %r6, %warpid;", "%warpid"},
    {"mov.u32 %r6, %smid;", "%smid"},
    {"mov.u32 %r6, %clock;", "%clock"},
    {"mov.u32 %r6, %tid.y;", "%tid.y"},
    {"mov.u32 %r6, %dynamic_smem_size;", "%dynamic_smem_size"},
    {"mov.u32 %r6, %r99;", "%r99 is never set"},
    {"mov.u32 %r6, somewhere;", "'somewhere' is not known"},
    {"bar.sync 0;", "wait for each other"},
    {"barrier.sync 0;", "wait for each other"},
    {"shfl.sync.down.b32 %r6|%p2, %r5, 1, 31, -1;", "exchange values"},
    {"vote.sync.ballot.b32 %r6, %p1, -1;", "vote"},
    {"activemask.b32 %r6;", "active"},
    {"membar.gl;", "orders memory"},
    {"fence.acq_rel.gpu;", "orders memory"},
    {"ld.volatile.global.u32 %r6, [%rd2];", ".volatile"},
    {"ld.acquire.gpu.global.u32 %r6, [%rd2];", ".acquire"},
    {"ld.shared.u32 %r6, [%r4];", "shared memory"},
    {"atom.global.cas.b32 %r6, [%rd2], 0, 1;", ".cas"},
    {"atom.global.exch.b32 %r6, [%rd2], 1;", ".exch"},
    {"atom.global.cta.add.u32 %r6, [%rd2], 1;", ".cta"},
    {"red.shared.add.u32 [%r4], 1;", "shared memory"},
    {"atom.global.add.u32 %r6, [%rd1], %r3;", "%tid.x reaches atom"},
    {".shared .align 4 .b8 part[4];", "shared memory"},
    {"call.uni (r), %rd1, (a), proto;", "pointer"},
    {"call.uni vprintf;", "vprintf, which has no body"},
    {"frobnicate.b32 %r6, %r5;", "frobnicate is not known"},
    {"ld.global.u32 %r6, [%rd2;", "not understood"},
    {"trap;", "end the whole program"},
    {"nanosleep.u32 20;", "waits for time"},
    {"cp.async.wait_all;", "shared memory"},
    {"ld.param.u32 %r6, [%r3];", "address of a parameter"},
    {"griddepcontrol.wait;", "another kernel"},
    {"mov.u32 %r6, !0;", "not understood"},
    {"mul.lo.u32 %r6, %r3, - 1;", "not understood"},
    {"mul.lo.u32 %r6, %r3, +1;", "not understood"},
    {"mul.lo.u32 %r6, %r3, (~0);", "not understood"},
    {"mul.lo.u32 %r6, %r3, 0|1;", "not understood"},
    {"mul.lo.u32 %r6, %r3, -WARP_SZ;", "not understood"},
    {"mov.b64 {_, %r6}, %rd1;\ncvt.u64.u32 %rd5, %r3;\nmov.b64 {_, %r7}, %rd5;", "%tid.x reaches mov"},
    {"sub.u32 %r6, %r3, %r1;\ncvt.u32.u32 %rd5, %r6;", "reaches cvt"},
    {"add.frob.u32 %r6, %r5, 1;", ".frob of add is not known"},
    {"shr.zip.u32 %r6, %r5, 1;", ".zip of shr is not known"},
    {"cvta.shared::cta.u64 %rd5, %rd1;", "shared memory"},
    {".loc 1 5 0 st.global.u32 [%rd2], %r3;", "%tid.x reaches st"},
    {".loc 1 5;", "not understood"},
    {".reg .v4 .u32 V;", "not known"},
    {".reg .u32 %rd3;", "two things"},
    {".reg .u64 %r<7>;", "two things"},
    {"mov.u32 x, 5;", "not declared as a register"},
    {"{ .reg .u32 x; mov.u32 x, %r3; }\n{ .param .b32 x; }", "two things"},
    {".reg .u64 ptr;\nmov.u64 ptr, k_param_0;", "address of a parameter"},
    {".reg .u64 ptr; mov.u64 ptr, %rd1;\nld.param.u8 %r6, [ptr];", "address of a parameter"},
    {"ld.global.u32 %r6, [%rd2+%r3];", "not understood"},
    {"st.global.u32 [%rd2], %r5 %r3;", "not understood"},
    {"mov.u64 %rd5, k_param_0+%r3;", "not understood"},
};

// Names that ptxas reads by their scope, numbers that end within a word, values that come and go in registers.
TEST(RetuneProof, WhatHasTwoMeaningsIsRefused) {
  const char *const bodies[] = {
      "{ .reg .u32 %laneid; mov.u32 %laneid, 5; }\nmov.u32 %r7, %laneid;",
      "mov.u32 %r7, %clock;\n.reg .u32 %clock; mov.u32 %clock, 5;",
      "{ .reg .u32 %envreg<32>; mov.u32 %envreg3, 0; }\nmov.u32 %r7, %envreg3;",
      "{ .reg .u32 %tid; mov.u32 %tid, 0; }",
      "{ .reg .u64 g; mov.u64 g, 0; }\nmov.u64 %rd5, g;",
      "{ .reg .u64 h; mov.u64 h, 0; }\nmov.u64 %rd5, h;",
      "{ .reg .u32 k_param_0; mov.u32 k_param_0, 0; }",
      "{ .reg .u32 f; mov.u32 f, 0; }",
      ".local .align 4 .b32 a, b;",
      "{ .param .b32 %r7; }\nmov.u32 %r7, %tid.x;\ncall.uni f, (%r7);",
      ".loc 1 5 0membar.gl;",
      ".loc 1 5 0exit;",
      "ld.param.u32 %r7, [k_param_0+-528];",
      "ld.param.u32 %r7, [k_param_0+4096];",
      "ld.global.u32 %r7, [g+-4];",
      "mov.u32 %r7, 0x;",
      "mov.u32 %r7, 12abc;",
      "{ .reg .u32 %nclusterid; mov.u32 %nclusterid, 5; }\nmov.u32 %r7, %nclusterid;",
      "{ .reg .u64 %stackend; mov.u64 %stackend, 5; }\nmov.u64 %rd5, %stackend;",
      "{ .reg .u64 second; mov.u64 second, 0; }\nmov.u64 %rd5, second;",
      "{ .reg .u64 g2; mov.u64 g2, 0; }\n.global .u32 g2;\nmov.u64 %rd5, g2;",
      ".const .u32 c2;",
      "{ .reg .u64 l3; mov.u64 l3, 0; }\n.local .u32 l<5>;\nmov.u64 %rd5, l3;",
      "{ .reg .u64 %a3; mov.u64 %a3, 0; }\nmov.u64 %rd5, %a3;",
      "{ .reg .u64 w<5>; mov.u64 w3, 0; }\nmov.u64 %rd5, w3;",
      "{ .reg .u64 %b<5>; mov.u64 %b3, 0; }\nmov.u64 %rd5, %b3;",
      "mov.u64 %rd5, k_param_0;\ncvta.param.u64 %rd6, %rd5;\nld.u32 %r7, [%rd6+-528];",
  };
  const std::string after = ".func f(.param .b32 f_param_0)\n{ ret; }\n";
  for (const char *body : bodies) {
    std::string text = kernel(index_and_bound + body + "\nst.global.u32 [%rd2], %r5;\n" + end);
    text.insert(head.size(),
                ".global .u32 g, h;\n.global .u32 first[2] = {1, 2}, second;\n.global .u32 %a3, w3, %b3;\n");
    EXPECT_FALSE(prove(text + after).proven) << body;
  }
  const std::string call = index_and_bound + "call.uni f;\nst.global.u32 [%rd2], %r5;\n" + end;
  EXPECT_TRUE(prove(kernel(call) + ".func f()\n{ ret; }\n").proven);
  EXPECT_FALSE(prove(kernel(call) + ".func (.reg .u32 r) f()\n{ ret; }\n").proven);
  for (const char *directive : {".maxnreg 0x40.reqntid 64", ".maxnreg 64x"}) {
    std::string text = kernel(call);
    EXPECT_FALSE(
        prove(text.replace(text.find("\n{"), 1, "\n" + std::string(directive) + "\n") + ".func f()\n{ ret; }\n").proven)
        << directive;
  }
}

// A parameter of another name than compilers give; and text that only looks as if it stood in a string.
TEST(RetuneProof, HiddenParametersAndTextIsRefused) {
  std::string text = kernel(index_and_bound +
                            "{ .reg .u64 other; mov.u64 other, 0; }\nmov.u64 %rd5, other;\ncvt.u64.u32 %rd6, %r3;\n"
                            "mul.lo.u64 %rd7, %rd6, %rd5;\nst.global.u64 [%rd2], %rd7;\n" +
                            end);
  text.insert(text.find("k_param_1)") + 9, ", .param .u64 other");
  EXPECT_FALSE(prove(text).proven);
  const auto verdict =
      prove(kernel(index_and_bound + ".pragma \"x\n\"; st.global.u32 [%rd2], %r3; .pragma \"y\n\";\n" + end));
  EXPECT_FALSE(verdict.proven);
  EXPECT_EQ(verdict.line, 17u) << verdict.reason;
  EXPECT_TRUE(prove(kernel(index_and_bound + ".pragma \"x\n\";\nst.global.u32 [%rd2], %r5;\n" + end)).proven);
}

// Tokens are those of ptxas: % begins one, and a type need not stand apart.
TEST(RetuneProof, WordsAreCutAsPtxasDoes) {
  for (const char *top : {".global .u32 %a<5>;\n", ".global .u32 g = 5, %a<4>;\n", ".const .align 8%a3 .b32 x;\n",
                          ".global .u32%a3;\n", ".const .align 4 .b8%a3[8];\n", ".shared .u32%a3;\n"}) {
    std::string text = kernel(
        index_and_bound + "{ .reg .u64 %a3; mov.u64 %a3, 0; }\nmov.u64 %rd5, %a3;\nst.global.u32 [%rd2], %r5;\n" + end);
    text.insert(head.size(), top);
    EXPECT_FALSE(prove(text).proven) << top;
  }
  const std::string call = index_and_bound + "call.uni f;\nst.global.u32 [%rd2], %r5;\n" + end;
  EXPECT_FALSE(prove(kernel(call) + ".func (.reg.u32%a3) f()\n{ ret; }\n").proven);
  EXPECT_FALSE(prove(kernel(call) + ".func f.noreturn\n{ ret; }\n").proven);
  EXPECT_FALSE(prove(kernel(index_and_bound + ".local .u32%a3;\n" + end)).proven);
  EXPECT_FALSE(prove(kernel(index_and_bound + ".local .u32 ;\n" + end)).proven);
  EXPECT_TRUE(
      prove(kernel(index_and_bound + "{ .reg.b32 f; mov.b32 f, 0; }\nst.global.u32 [%rd2], %r5;\n" + end)).proven);
}

// cvta adds where a space begins, which is a number of the launch.
TEST(RetuneProof, AddressesAreNoConstants) {
  for (const char *space : {"local", "const", "to.local", "to.const", "param"}) {
    const std::string body = "cvt.u64.u32 %rd5, %r3;\nmov.u64 %rd6, 0;\ncvta." + std::string(space) +
                             ".u64 %rd7, %rd6;\nmul.lo.u64 %rd8, %rd5, %rd7;\nst.global.u64 [%rd2], %rd8;\n";
    EXPECT_FALSE(prove(kernel(index_and_bound + body + end)).proven) << space;
  }
}

// Which threads share a warp follows from the block.
TEST(RetuneProof, WhatAWarpDoesAsOneIsRefused) {
  const auto with = [&](const std::string &body) {
    return prove(kernel(index_and_bound + body + "st.global.u32 [%rd2], %r5;\n" + end) + ".func f()\n{ ret; }\n")
        .proven;
  };
  const std::string odd = "and.b32 %r6, %r4, 1;\nsetp.eq.s32 %p2, %r6, 0;\n";
  for (const char *body :
       {"@%p2 bra.uni $END;\n", "@%p2 ret.uni;\n", "@%p2 call.uni f;\n", "ldu.global.u32 %r7, [%rd2];\n"})
    EXPECT_FALSE(with(odd + body)) << body;
  for (const char *body : {"@%p2 bra $END;\n", "@%p2 ret;\n", "bra.uni $NEXT;\n$NEXT:\n", "call.uni f;\n"})
    EXPECT_TRUE(with(odd + body)) << body;
}

TEST(RetuneProof, RefusalsNameTheirLine) {
  constexpr std::size_t first_line = 16;
  for (const Refused &each : refusals) {
    const std::string body = each.body;
    const auto verdict = prove(kernel(index_and_bound + body + "\n" + end));
    EXPECT_FALSE(verdict.proven) << body;
    EXPECT_NE(verdict.reason.find(each.reason), std::string::npos) << body << ": " << verdict.reason;
    EXPECT_EQ(verdict.line, first_line + static_cast<std::size_t>(std::count(body.begin(), body.end(), '\n'))) << body;
  }
}

TEST(RetuneProof, TheIndexMayBePutTogetherInManyWays) {
  const char *const ways[] = {
      "mul.lo.s32 %r6, %r2, %r1;\nadd.s32 %r7, %r6, %r3;",
      "mul.lo.s32 %r6, %r1, %r2;\nadd.s32 %r8, %r3, 5;\nadd.s32 %r9, %r6, %r8;\nsub.s32 %r7, %r9, 5;",
      "shl.b32 %r6, %r3, 2;\nmul.lo.s32 %r8, %r1, %r2;\nshl.b32 %r9, %r8, 2;\nadd.s32 %r7, %r6, %r9;",
      "add.s32 %r8, %r1, 3;\nmul.lo.s32 %r6, %r8, %r2;\nmad.lo.s32 %r9, %r2, -3, %r6;\nadd.s32 %r7, %r9, %r3;",
      "mov.u32 %r6, %nctaid.x;\nmad.lo.s32 %r7, %r6, %r2, %r4;",
      "neg.s32 %r6, %r3;\nsub.s32 %r8, %r4, %r6;\nsub.s32 %r7, %r8, %r3;",
      "mul.wide.u32 %rd4, %r1, %r2;\ncvt.u64.u32 %rd5, %r3;\nadd.s64 %rd6, %rd4, %rd5;\ncvt.u32.u64 %r7, %rd6;",
      // An unknown step times the stride, in this order.
      "mul.lo.s32 %r6, %r5, %r2;\nmov.u32 %r8, %nctaid.x;\nmul.lo.s32 %r7, %r6, %r8;",
      "cvt.u64.u32 %rd4, %r1;\ncvt.u64.u32 %rd5, %r2;\nmul.lo.s64 %rd6, %rd4, %rd5;\ncvt.u64.u32 %rd7, %r3;\n"
      "add.s64 %rd8, %rd7, %rd6;\nshr.u64 %rd9, %rd8, 3;\ncvt.u32.u64 %r7, %rd9;",
  };
  for (const char *way : ways) {
    const auto verdict = prove(kernel(index_and_bound + way + "\nst.global.u32 [%rd2], %r7;\n" + end));
    EXPECT_TRUE(verdict.proven) << way << "\n" << verdict.line << ": " << verdict.reason;
  }
}

TEST(RetuneProof, NearlyTheIndexIsRefused) {
  const char *const ways[] = {
      "mad.lo.s32 %r7, %r1, 256, %r3;",                                  // a block size of its own
      "mad.lo.s32 %r6, %r1, %r2, %r3;\nmad.lo.s32 %r7, %r1, %r2, %r6;",  // 2 ctaid ntid + tid
      "mul.lo.s32 %r6, %r1, %r2;\nshl.b32 %r8, %r6, 1;\nadd.s32 %r7, %r8, %r3;",
      "shl.b32 %r6, %r3, 1;\nmad.lo.s32 %r7, %r1, %r2, %r6;",  // ctaid ntid + 2 tid
      "mul.lo.s32 %r6, %r1, %r2;\nor.b32 %r7, %r6, %r3;",
      "mul.lo.s32 %r6, %r1, %r2;\nmov.u32 %r7, %r6;",
      "mov.u32 %r6, %nctaid.x;\nmad.lo.s32 %r7, %r3, %r6, %r1;",  // transposed
      "mul.lo.s32 %r6, %r2, %r2;\nadd.s32 %r7, %r6, %r4;",
      "add.s32 %r6, %r1, 1;\nmad.lo.s32 %r7, %r6, %r2, %r3;",  // of the next block
      "mul.lo.s32 %r6, %r5, %r2;\nmul.lo.s32 %r7, %r6, %r1;",  // unknown times block start
      "mul.lo.s32 %r6, %r5, %r2;\nmul.lo.s32 %r8, %r6, %r1;\nmad.lo.s32 %r7, %r5, %r3, %r8;",
      "mul.lo.s32 %r6, %r5, %r2;\nadd.s32 %r8, %r6, %r5;\nmov.u32 %r9, %nctaid.x;\nmul.lo.s32 %r7, %r8, %r9;",
      "selp.b32 %r7, %r3, %r4, %p1;",
      "mov.u32 %r7, %r4;\n@%p1 mov.u32 %r7, %r3;",  // one register, two meanings
      "cvt.u64.u32 %rd4, %r3;\nmul.lo.s64 %rd5, %rd4, 3;\ncvt.u32.u64 %r7, %rd5;",
      "sub.s32 %r6, %r3, %r2;\ncvt.u64.u32 %rd4, %r6;\ncvt.u64.u32 %rd5, %r2;\nadd.s64 %rd6, %rd4, %rd5;\n"
      "cvt.u64.u32 %rd7, %r3;\nsub.s64 %rd8, %rd6, %rd7;\ncvt.u32.u64 %r7, %rd8;",  // wraps before it is widened
  };
  for (const char *way : ways)
    EXPECT_FALSE(prove(kernel(index_and_bound + way + "\nst.global.u32 [%rd2], %r7;\n" + end)).proven) << way;
}

TEST(RetuneProof, LoopsAndFunctions) {
  const std::string stride =
      "mov.u32 %r6, %nctaid.x;\nmul.lo.s32 %r7, %r6, %r2;\n$LOOP:\nst.global.u32 [%rd2], %r5;\n"
      "mul.wide.s32 %rd4, %r7, 4;\nadd.s64 %rd2, %rd2, %rd4;\nadd.s32 %r4, %r4, %r7;\nsetp.lt.s32 %p2, %r4, %r5;\n"
      "@%p2 bra $LOOP;\n";
  EXPECT_TRUE(prove(kernel(index_and_bound + stride + end)).proven);
  // A stride of the block alone leaves another remainder each time round.
  std::string block_stride = stride;
  block_stride.replace(block_stride.find("mul.lo.s32 %r7, %r6, %r2"), 24, "mov.u32 %r7, %r2        ");
  EXPECT_FALSE(prove(kernel(index_and_bound + block_stride + end)).proven);

  const std::string call =
      "{\n.param .b32 a;\nst.param.b32 [a], %r5;\n.param .b32 r;\ncall.uni (r), twice, (a);\nld.param.b32 %r6, "
      "[r];\n}\n"
      "st.global.u32 [%rd2], %r6;\n";
  const std::string twice =
      ".func (.param .b32 func_retval0) twice(.param .b32 twice_param_0)\n{.reg .b32 %r<3>;\nld.param.b32 %r1, "
      "[twice_param_0];\n"
      "add.s32 %r2, %r1, %r1;\nst.param.b32 [func_retval0], %r2;\nret;\n}\n";
  EXPECT_TRUE(prove(kernel(index_and_bound + call + end) + twice).proven);
  std::string shuffles = twice;
  shuffles.insert(shuffles.find("add.s32"), "bar.warp.sync -1;\n");
  EXPECT_FALSE(prove(kernel(index_and_bound + call + end) + shuffles).proven);
  std::string passes_thread = call;
  passes_thread.replace(passes_thread.find("[a], %r5"), 8, "[a], %r3");
  EXPECT_FALSE(prove(kernel(index_and_bound + passes_thread + end) + twice).proven);
  std::string returns_thread = twice;
  returns_thread.replace(returns_thread.find("ld.param.b32 %r1, [twice_param_0]"), 33, "mov.u32 %r1, %tid.x");
  EXPECT_FALSE(prove(kernel(index_and_bound + call + end) + returns_thread).proven);
}

TEST(RetuneProof, Atomics) {
  const auto two = [&](const std::string &first, const std::string &second) {
    return prove(kernel(index_and_bound + "red.global." + first + " [%rd1], %r5;\nred.global." + second +
                        " [%rd1], %r5;\n" + end))
        .proven;
  };
  EXPECT_TRUE(two("add.u32", "add.u32"));
  EXPECT_FALSE(two("max.u32", "add.u32"));
  EXPECT_FALSE(two("and.b32", "or.b32"));
  EXPECT_FALSE(two("u32.max", "s32.max"));
  EXPECT_TRUE(
      prove(kernel(index_and_bound + "mov.f32 %f1, 0f3F800000;\nred.global.f32.add [%rd2], %f1;\n" + end)).reorders);
  EXPECT_TRUE(prove(kernel(index_and_bound + "red.global.add.u32 [%rd2], 1;\n" + end)).proven);
  EXPECT_TRUE(prove(kernel(index_and_bound + "atom.global.max.s32 %r6, [%rd2], %r4;\n" + end)).proven);
  const auto sums =
      prove(kernel(index_and_bound + "ld.global.f32 %f1, [%rd2];\nred.global.add.f32 [%rd1], %f1;\n" + end));
  EXPECT_TRUE(sums.proven);
  EXPECT_TRUE(sums.reorders);
  const std::string used = "atom.global.add.u32 %r6, [%rd2], 1;\nst.global.u32 [%rd2], %r6;\n";
  EXPECT_FALSE(prove(kernel(index_and_bound + used + end)).proven);
}

// What compilers write between instructions, on lines of their own or not.
TEST(RetuneProof, PlacesInSourcesAreRead) {
  const std::string places =
      ".file 1 \"k.cu\", 123, 456\n.loc 1 20 3, function_name $L__info_string0, inlined_at 1 10 2\n"
      ".loc 1 5 0 mov.u32 %r6, %r4; .loc 1 5 2, function_name $L__info_string0+12, inlined_at 1 8 1 st.global.u32 "
      "[%rd2], %r6;\n";
  const auto verdict = prove(kernel(index_and_bound + places + end));
  EXPECT_TRUE(verdict.proven) << verdict.line << ": " << verdict.reason;
}

// Each call is proven within the proof of its caller: a chain that could use up the stack is refused.
TEST(RetuneProof, DeepCallsAreRefused) {
  for (const int depth : {20, 100000}) {
    std::string text;
    for (int i = 0; i < depth; ++i)
      text += ".func f" + std::to_string(i) + "() {\n" +
              (i + 1 < depth ? "call.uni f" + std::to_string(i + 1) + ";\n" : std::string()) + "ret;\n}\n";
    const auto verdict = prove(kernel(index_and_bound + "call.uni f0;\nst.global.u32 [%rd2], %r5;\n" + end) + text);
    EXPECT_EQ(verdict.proven, depth == 20) << verdict.reason;
    if (depth > 20) {
      EXPECT_NE(verdict.reason.find("deeper"), std::string::npos);
    }
  }
}

TEST(RetuneProof, LongKernelsAreRefused) {
  std::string lines;
  for (int i = 0; i < 20000; ++i) lines += "add.s32 %r5, %r5, 1;\n";
  const auto verdict = prove(kernel(index_and_bound + lines + "st.global.u32 [%rd2], %r5;\n" + end));
  EXPECT_FALSE(verdict.proven);
  EXPECT_NE(verdict.reason.find("more than 20000 instructions"), std::string::npos);
}

TEST(RetuneProof, HeadsAndBounds) {
  const std::string body = index_and_bound + "st.global.u32 [%rd2], %r5;\n" + end;
  const auto with_head = [&](const std::string &directive) {
    std::string text = kernel(body);
    return prove(text.replace(text.find("\n{"), 1, "\n" + directive + "\n"));
  };
  EXPECT_TRUE(with_head(".maxntid 256, 1, 1").proven);
  EXPECT_TRUE(with_head(".minnctapersm 2").proven);
  for (const char *directive : {".reqntid 128, 1, 1", ".explicitcluster", ".reqnctapercluster 2", ".blocksareclusters",
                                ".maxclusterrank 8", ".something 1"})
    EXPECT_FALSE(with_head(directive).proven) << directive;
  std::string unchecked = body;
  unchecked.replace(unchecked.find("setp.ge.s32 %p1, %r4"), 20, "setp.ge.s32 %p1, %r5");
  const auto verdict = prove(kernel(unchecked));
  EXPECT_FALSE(verdict.proven);
  EXPECT_NE(verdict.reason.find("bound"), std::string::npos);
}

TEST(RetuneProof, BrokenModulesAreRefused) {
  for (const char *text :
       {"", "nonsense", ".version 8.4", ".version 99.0\n.target sm_80\n.entry k() { ret; }",
        ".version 8.4\n.target sm_80\n.entry k() { ret;", ".version 8.4\n.target sm_80\n.entry k(", ".target sm_80\n",
        ".version 8.4\n.target sm_80\n.entry k() { @ }",
        ".version 8.4\n.target sm_80\n.unheard of;\n.entry k() { ret; }",
        ".version 8.4\n.target compute\n.entry k() { ret; }", "/* .version 8.4", ".version 8.4\n.target sm_80\n\"",
        ".version 8.4\n.target sm_80\n.entry k() { ret; }\n.entry k() { ret; }"}) {
    const auto verdict = prove(text);
    EXPECT_FALSE(verdict.proven) << text;
    EXPECT_FALSE(verdict.reason.empty()) << text;
  }
  EXPECT_TRUE(prove(".version 8.4\n.target sm_80\n.entry k() { ret; }").proven);
}

// Cut off anywhere, a text is refused or means less, and nothing is read behind its end.
TEST(RetuneProof, EveryPrefixEnds) {
  const std::string whole =
      kernel(index_and_bound + "ld.global.f32 %f1, [%rd2+4];\nst.global.f32 [%rd2], %f1;\n" + end);
  for (std::size_t length = 0; length + 3 < whole.size(); ++length)
    EXPECT_FALSE(prove(std::string(whole, 0, length)).proven) << length;
}

}  // namespace
