# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Output of the scripts in this folder: headings, sentences, errors, and the program's name.

# A heading before each stage, so that a long log can be skimmed.
step() { printf '\n== %s\n' "$*"; }

say() { printf '%s\n' "$*"; }

# An error ends the script: what is wrong and what to do about it.
fail() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# A wrong command line is exit code 2, as for the sextant command.
usage_error() {
  printf '%s: %s (try --help)\n' "${0##*/}" "$*" >&2
  exit 2
}

# The comment block at the top of the calling script is its help: one text, kept in one place.
print_help() { sed -n '/^# usage:/,/^[^#]/s/^# \{0,1\}//p' "$0"; }

# option_value NAME VALUE...: sets value to the word after an option, which must be there and be no option itself.
option_value() {
  [[ $# -ge 2 && -n $2 && $2 != -* ]] || usage_error "$1 needs a value"
  value=$2
}
