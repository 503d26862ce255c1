# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Configuring and building, the same way for quickstart and for the tests.

# As many jobs as cores, fewer where memory is short: the largest source needs about 1 GB to compile.
default_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo 2>/dev/null || true)
  [[ -n $memory && $memory -lt $cores ]] && cores=$((memory > 0 ? memory : 1))
  printf '%s' "$cores"
}

# check_jobs N: accepts only a positive number.
check_jobs() { [[ $1 =~ ^[1-9][0-9]*$ ]] || usage_error "--jobs needs a positive number, not '$1'"; }

# A compiler that was not there at the first configuration is remembered as not found; forget that, so that a later
# installation of gfortran or CUDA is noticed.
forgotten_compilers() {
  local language
  for language in CUDA Fortran; do
    if grep -qs "^CMAKE_${language}_COMPILER:.*NOTFOUND" "$1/CMakeCache.txt"; then
      printf '%s\n' "-UCMAKE_${language}_COMPILER"
    fi
  done
}

# configure SOURCE BUILD OPTION...: a first configuration takes Ninja and ccache where they are there, later ones keep
# the generator of the first.
configure() {
  local source=$1 build=$2
  shift 2
  command -v cmake >/dev/null || fail 'there is no cmake: run tools/quickstart first, it installs what is missing.'
  local -a options=("$@")
  if [[ ! -f $build/CMakeCache.txt ]]; then
    if command -v ninja >/dev/null; then options+=(-G Ninja); fi
    if command -v ccache >/dev/null; then
      options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    fi
  fi
  local -a forget
  mapfile -t forget < <(forgotten_compilers "$build")
  cmake -S "$source" -B "$build" "${forget[@]}" "${options[@]}" ||
    fail "cmake could not configure $build: if a package is missing, tools/quickstart installs it."
}

# own_isa: the widest instruction set of this machine that kernels are compiled for: avx512, avx2, baseline, or nothing (all)
# where that is not known. The conditions are those of sdk/cpu/isa.hpp.
own_isa() {
  local flags flag
  flags=" $(sed -n -E 's/^flags[[:space:]]*:(.*)/\1/p;T;q' /proc/cpuinfo 2>/dev/null) " || true
  if [[ $flags != *' fpu '* ]]; then return 0; fi
  for flag in avx2 fma; do
    if [[ $flags != *" $flag "* ]]; then printf 'baseline'; return 0; fi
  done
  for flag in avx512f avx512vl avx512dq avx512bw; do
    if [[ $flags != *" $flag "* ]]; then printf 'avx2'; return 0; fi
  done
  printf 'avx512'
}

# clock SECONDS: as minutes and seconds.
clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# The lines "[12/640] ..." of ninja, or "[ 40%] ..." of make, become a line now and then of what is done and what remains;
# everything else, such as a compiler's warning, passes. On a terminal that line stays in one place.
progress_lines() {
  local line percent start=$SECONDS shown=-10 end=$'\n'
  if [[ -t 1 ]]; then end=$'\r'; fi
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
    elif [[ $line =~ ^\[\ *([0-9]+)%\] ]]; then
      percent=${BASH_REMATCH[1]}
    else
      printf '%s\n' "$line"
      continue
    fi
    if ((SECONDS - shown < 10 && percent < 100)); then continue; fi
    if ((percent > 2 && percent < 100)); then
      printf '%3d%% built after %s, about %s to go  %s' "$percent" "$(clock $((SECONDS - start)))" \
        "$(clock $(((SECONDS - start) * (100 - percent) / percent)))" "$end"
    else
      printf '%3d%% built after %s                     %s' "$percent" "$(clock $((SECONDS - start)))" "$end"
    fi
    shown=$SECONDS
  done
  if [[ $end == $'\r' ]]; then printf '\n'; fi
}

# build_all BUILD JOBS
build_all() {
  cmake --build "$1" --parallel "$2" 2>&1 | progress_lines ||
    fail "the build in $1 failed: see the compiler's messages above."
}

# Where quickstart leaves out the CUDA plugins, it leaves this file, so that tools/test builds them all the same.
cuda_left_out() { printf '%s' "$1/cuda-left-out"; }
