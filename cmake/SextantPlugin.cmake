# SPDX-License-Identifier: BSD-3-Clause
# sextant_add_plugin(NAME <name> DEVICE <device> [CUDA] [SOURCES <files>...] [LIBRARIES <libs>...]
#                    [ISA_SOURCES <files>...])
#
# Builds one plugin: a shared object of plugin ABI 0 that exports nothing but its entry, placed where libsextant finds
# it. SOURCES default to every .c, .cpp and .cu file of the folder but test_*. CPU and device plugins link OpenMP where the
# compiler has it. Used for every folder of this tree and, from the installed package, for plugins out of tree.

# CUDA (implied by DEVICE cuda): the plugin is built only where the language CUDA is enabled, with machine code and PTX of
# CMAKE_CUDA_ARCHITECTURES, and links the shared CUDA runtime and no other CUDA library: it NEEDs libcudart by its SONAME,
# with the toolkit's folder as RUNPATH, so that a toolkit installed as wheels works and LD_LIBRARY_PATH still comes first.

# ISA_SOURCES are compiled once for baseline and each instruction set of SEXTANT_ISAS (x86-64: avx2 and avx512, both where
# it is empty; elsewhere none), with SXT_ISA defined to that name, so that sdk/cpu/simd.hpp can choose at run time. Such a
# file includes no C++ standard header: an inline function of it, compiled for AVX-512, could be the one the process keeps.

set(SEXTANT_PLUGIN_ABI 0)
set(SEXTANT_PLUGIN_MAP "${CMAKE_CURRENT_LIST_DIR}/plugin.map")
set(SEXTANT_CUDA_TOOLKIT "${CMAKE_CURRENT_LIST_DIR}/SextantCudaToolkit.cmake")

function(sextant_add_plugin)
  cmake_parse_arguments(PLUGIN "CUDA" "NAME;DEVICE" "SOURCES;LIBRARIES;ISA_SOURCES" ${ARGN})
  if(NOT PLUGIN_NAME OR NOT PLUGIN_DEVICE)
    message(FATAL_ERROR "sextant_add_plugin needs NAME and DEVICE")
  endif()
  if(PLUGIN_DEVICE STREQUAL "cuda")
    set(PLUGIN_CUDA ON)
  endif()
  if(PLUGIN_CUDA AND NOT CMAKE_CUDA_COMPILER_LOADED)
    message(STATUS "plugin ${PLUGIN_NAME}: left out, the language CUDA is not enabled")
    return()
  endif()
  if(NOT PLUGIN_SOURCES)
    file(GLOB PLUGIN_SOURCES CONFIGURE_DEPENDS *.c *.cpp *.cu)
    list(FILTER PLUGIN_SOURCES EXCLUDE REGEX "/test_[^/]*$")
  endif()
  foreach(source IN LISTS PLUGIN_ISA_SOURCES)
    get_filename_component(source "${source}" ABSOLUTE)
    list(REMOVE_ITEM PLUGIN_SOURCES "${source}")
  endforeach()
  if(NOT PLUGIN_SOURCES)
    message(WARNING "plugin ${PLUGIN_NAME}: ${CMAKE_CURRENT_SOURCE_DIR} has no sources; left out")
    return()
  endif()
  set(target sxt_plugin_${PLUGIN_NAME})
  add_library(${target} MODULE ${PLUGIN_SOURCES})
  set_property(GLOBAL APPEND PROPERTY SEXTANT_PLUGIN_TARGETS ${target})
  target_link_libraries(${target} PRIVATE Sextant::headers ${PLUGIN_LIBRARIES})
  if(PLUGIN_ISA_SOURCES)
    sextant_add_isa_objects(${target} ${PLUGIN_ISA_SOURCES})
  endif()
  if(PLUGIN_CUDA)
    sextant_use_cuda(${target})
  elseif(PLUGIN_DEVICE MATCHES "^(cpu|device)$" AND TARGET OpenMP::OpenMP_CXX)
    target_link_libraries(${target} PRIVATE OpenMP::OpenMP_CXX)
  endif()
  target_compile_features(${target} PRIVATE cxx_std_20)
  # One exported symbol, nothing unresolved, everything bound at load: a plugin reaches the host only through its table.
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME "${PLUGIN_NAME}" SUFFIX ".so"
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS "${SEXTANT_PLUGIN_MAP}")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${SEXTANT_PLUGIN_MAP}" "LINKER:-z,now")
  if(NOT SEXTANT_SANITIZE)  # sanitizer runtimes are resolved from the executable
    target_link_options(${target} PRIVATE "LINKER:-z,defs")
  endif()
  if(SEXTANT_PLUGIN_OUTPUT)
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${SEXTANT_PLUGIN_OUTPUT}/${PLUGIN_DEVICE}")
  endif()
  if(SEXTANT_PLUGIN_INSTALL)
    set(component runtime)
    if(PLUGIN_CUDA)
      set(component cuda)
    endif()
    install(TARGETS ${target} LIBRARY DESTINATION "${SEXTANT_PLUGIN_INSTALL}/${PLUGIN_DEVICE}" COMPONENT ${component})
  endif()
endfunction()

# The shared runtime and the flags of every CUDA plugin. C++20 as a flag: CMake 3.25 does not know nvcc's of CUDA 13.
function(sextant_use_cuda target)
  if(NOT TARGET CUDA::cudart)
    include("${SEXTANT_CUDA_TOOLKIT}")
  endif()
  target_link_libraries(${target} PRIVATE CUDA::cudart)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--expt-relaxed-constexpr;-Xptxas=-warn-spills,-warn-lmem-usage;-Xcompiler=-Wall,-Wextra>")
  set_target_properties(${target} PROPERTIES
    CUDA_RUNTIME_LIBRARY Shared CUDA_VISIBILITY_PRESET hidden CUDA_SEPARABLE_COMPILATION OFF
    BUILD_RPATH "${CUDAToolkit_LIBRARY_DIR}" INSTALL_RPATH "${CUDAToolkit_LIBRARY_DIR}")
  target_link_options(${target} PRIVATE "LINKER:--enable-new-dtags")
endfunction()

# The ISA_SOURCES of one plugin as an object library for each instruction set.
function(sextant_add_isa_objects target)
  set(isas baseline)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
    foreach(isa IN ITEMS avx2 avx512)
      if(NOT SEXTANT_ISAS OR isa IN_LIST SEXTANT_ISAS)
        list(APPEND isas ${isa})
      endif()
    endforeach()
  endif()
  set(flags_baseline "")
  set(flags_avx2 -mavx2 -mfma)
  set(flags_avx512 -mavx512f -mavx512vl -mavx512dq -mavx512bw -mfma -mprefer-vector-width=512)
  foreach(isa IN LISTS isas)
    set(objects ${target}_${isa})
    add_library(${objects} OBJECT ${ARGN})
    target_link_libraries(${objects} PRIVATE Sextant::headers)
    target_compile_features(${objects} PRIVATE cxx_std_20)
    target_compile_definitions(${objects} PRIVATE SXT_ISA=${isa} SXT_ISA_${isa}=1)
    target_compile_options(${objects} PRIVATE ${flags_${isa}} -fopenmp-simd)
    set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
    target_compile_definitions(${target} PRIVATE SXT_HAS_ISA_${isa}=1)
  endforeach()
endfunction()
