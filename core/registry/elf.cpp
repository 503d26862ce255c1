// SPDX-License-Identifier: BSD-3-Clause
// ELF headers: kind of file, architecture, and whether all that they promise is there.
#include "core/registry/elf.hpp"

#include <elf.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/files.hpp"

namespace sextant::registry {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t own_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t own_machine = EM_AARCH64;
#elif defined(__powerpc64__)
constexpr std::uint16_t own_machine = EM_PPC64;
#elif defined(__riscv)
constexpr std::uint16_t own_machine = EM_RISCV;
#else
#error "state this architecture's ELF machine number here"
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr unsigned char own_order = ELFDATA2LSB;
#else
constexpr unsigned char own_order = ELFDATA2MSB;
#endif

std::string machine_name(unsigned machine) {
  switch (machine) {
    case EM_386: return "32-bit x86";
    case EM_X86_64: return "x86-64";
    case EM_ARM: return "32-bit ARM";
    case EM_AARCH64: return "AArch64";
    case EM_PPC64: return "PowerPC 64";
    case EM_RISCV: return "RISC-V";
    case EM_S390: return "IBM S/390";
    default: return text("ELF machine ", machine);
  }
}

bool within(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

bool read_at(int file, std::uint64_t offset, void *out, std::size_t bytes) {
  return pread(file, out, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

// Everything the headers promise must lie inside the file, or mapping it ends in SIGBUS.
std::string truncation(int file, const Elf64_Ehdr &header, std::uint64_t size) {
  const std::string cut = "the file is cut short: ";
  const std::uint64_t table = std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0) return "its ELF program headers make no sense";
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!within(header.e_phoff, table, size) || !read_at(file, header.e_phoff, segments.data(), table))
    return cut + text("its ELF program headers end beyond its ", size, " bytes");
  for (const Elf64_Phdr &segment : segments)
    if (segment.p_type == PT_LOAD && !within(segment.p_offset, segment.p_filesz, size))
      return cut + text("a segment of ", segment.p_filesz, " bytes at offset ", segment.p_offset, " ends beyond its ",
                        size, " bytes");
  // Section headers come last in what linkers write, so they tell of a lost tail; a stripped file has none.
  const std::uint64_t sections = std::uint64_t{header.e_shnum} * header.e_shentsize;
  if (header.e_shoff != 0 && !within(header.e_shoff, sections, size))
    return cut + text("its ELF section headers end beyond its ", size, " bytes");
  return "";
}

}  // namespace

std::string elf_problem(int file, const struct stat &status) {
  if (S_ISDIR(status.st_mode)) return "it is a directory, not a shared object";
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  if (status.st_size == 0) return "the file is empty";
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > most_plugin_bytes) return text("it has ", size, " bytes, more than any shared object");

  Elf64_Ehdr header{};
  const ssize_t got = pread(file, &header, sizeof header, 0);
  if (got < 0) return text("it could not be read: ", std::strerror(errno));
  if (got < SELFMAG || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return "it is not an ELF file, so not a shared object";
  if (got < EI_NIDENT) return text("the file is cut short: it ends inside its ELF header, after ", size, " bytes");
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return "wrong architecture: it is a 32-bit file, this library is 64-bit";
  if (header.e_ident[EI_DATA] != own_order) return "wrong architecture: its byte order is not this machine's";
  if (got < static_cast<ssize_t>(sizeof header))
    return text("the file is cut short: it ends inside its ELF header, after ", size, " bytes");
  if (header.e_machine != own_machine)
    return text("wrong architecture: it is for ", machine_name(header.e_machine), ", this library is for ",
                machine_name(own_machine));
  if (header.e_type != ET_DYN)
    return text("it is an ELF file of type ", header.e_type, ", not a shared object (type ", ET_DYN, ")");
  return truncation(file, header, size);
}

}  // namespace sextant::registry
