# SPDX-License-Identifier: BSD-3-Clause
"""Whether a MATLAB file of version 5 to 7 is laid out as it says, before SciPy reads it.

SciPy believes the sizes that such a file names: it reserves memory for cells that are not there, and follows cells in cells
until the stack ends. Here every element has to lie within the one around it, and each array has to have the parts of its
class. Nothing of the values is kept. Layout: MAT-File Format, The MathWorks.
"""

from __future__ import annotations

import os
import struct
import zlib

_MATRIX, _COMPRESSED = 14, 15  # types of elements
_CELLS, _STRUCT, _OBJECT, _TEXT, _SPARSE, _FUNCTION, _OPAQUE = 1, 2, 3, 4, 5, 16, 17  # classes of arrays
_OF_ARRAYS = (_CELLS, _STRUCT, _OBJECT, _FUNCTION, _OPAQUE)  # whose parts are arrays
_COMPLEX = 8  # flag of an array
_MOST_DEPTH = 32  # of arrays in arrays
_MOST_INFLATED, _FREE_INFLATED = 200, 2**28  # bytes for one of the file; so many are read from any file
_PIECE = 2**16


class _Source:
    """Bytes one after the other, from a file or from compressed bytes of one."""

    def __init__(self, file, compressed=None, most=None):
        self._file, self._left, self._inflate = file, compressed, zlib.decompressobj() if compressed is not None else None
        self._ready, self._most = b"", most

    def _more(self):
        if self._inflate is None:
            return self._file.read(_PIECE)
        while not self._inflate.eof:
            rest = self._inflate.unconsumed_tail
            if not rest:
                rest = self._file.read(min(_PIECE, self._left))
                self._left -= len(rest)
            piece = self._inflate.decompress(rest, _PIECE)
            self._most -= len(piece)
            if self._most < 0:
                raise ValueError("what is compressed there becomes too large")
            if piece or not rest:
                return piece
        return b""

    def take(self, count):
        while len(self._ready) < count:
            piece = self._more()
            if not piece:
                raise ValueError("it ends within an element")
            self._ready += piece
        taken, self._ready = self._ready[:count], self._ready[count:]
        return taken

    def skip(self, count):
        while count > len(self._ready):
            count -= len(self._ready)
            self._ready = self._more()
            if not self._ready:
                raise ValueError("it ends within an element")
        self._ready = self._ready[count:]


class _Element:
    """The tag of an element within `room` bytes.

    size: of its content; whole: with its tag and what fills up to 8 bytes; small: the content that stands in the tag, or None.
    """

    def __init__(self, source, order, room):
        if room < 8:
            raise ValueError("an element has no place in the array around it")
        head = source.take(8)
        self.type, self.size = struct.unpack(order + "II", head)
        self.small = None
        if self.type >> 16:  # up to four bytes stand in the tag
            self.type, self.size, self.small = self.type & 0xFFFF, self.type >> 16, head[4:]
            if self.size > 4:
                raise ValueError("an element of more than four bytes stands in its tag")
        self.whole = 8 if self.small is not None else 8 + self.size + (-self.size % 8 if self.type != _MATRIX else 0)
        if self.whole > room:
            raise ValueError(f"an element of {self.size} bytes has no place in {room - 8}")

    def content(self, source):
        return self.small[: self.size] if self.small is not None else source.take(self.whole - 8)[: self.size]


def _product(numbers):
    count = 1
    for each in numbers:
        if each < 0:
            raise ValueError("an array has a negative size")
        count *= each
    return count


def _small(source, order, room, most=4096):
    element = _Element(source, order, room)
    if element.size > most:
        raise ValueError(f"{element.size} bytes stand where at most {most} may")
    return element.content(source), element.whole


def _header(source, order, room):
    """Class of an array, whether its values are complex, how many it has, and how many bytes are left for them."""
    flags, used = _small(source, order, room)
    if len(flags) != 8:
        raise ValueError("an array has no class")
    kind, flag = struct.unpack(order + "I", flags[:4])[0] & 0xFF, flags[1 if order == "<" else 2]
    left = room - used
    if kind == _OPAQUE:  # an object, after its name, its system and its class
        for _ in range(3):
            left -= _small(source, order, left)[1]
        return kind, False, 1, left
    dims, used = _small(source, order, left)
    count = _product(struct.unpack(f"{order}{len(dims) // 4}i", dims[: len(dims) // 4 * 4]))
    left -= used
    left -= _small(source, order, left)[1]  # the name
    if kind == _OBJECT:
        left -= _small(source, order, left)[1]  # of its class
    if kind in (_STRUCT, _OBJECT):
        length, used = _small(source, order, left)
        left -= used
        names, used = _small(source, order, left, 2**20)
        left -= used
        width = struct.unpack(order + "i", length)[0] if len(length) == 4 else 0
        if width <= 0:
            raise ValueError("a structure has names of no length")
        count *= len(names) // width
    return kind, bool(flag & _COMPLEX), 1 if kind == _FUNCTION else count, left


def _check_array(source, order, room, depth):
    """The content of an array of `room` bytes: its parts, and no more than it says of each."""
    if depth > _MOST_DEPTH:
        raise ValueError(f"arrays stand in more than {_MOST_DEPTH} arrays")
    if room == 0:  # an empty array, without anything
        return
    kind, is_complex, count, left = _header(source, order, room)
    of_arrays = kind in _OF_ARRAYS
    if of_arrays and count > left // 8:
        raise ValueError(f"{count} parts of an array have no place in {left} bytes")
    for _ in range(count if of_arrays else (3 if kind == _SPARSE else 1) + is_complex):
        part = _Element(source, order, left)
        left -= part.whole
        if kind == _TEXT and count > max(4 * part.size, 4096):
            raise ValueError(f"a text of {part.size} bytes cannot have {count} characters")
        if (part.type == _MATRIX) != of_arrays:
            raise ValueError("an array stands in the place of numbers, or numbers in that of an array")
        if of_arrays:
            _check_array(source, order, part.size, depth + 1)
        elif part.small is None:
            source.skip(part.whole - 8)
    source.skip(left)


def check_layout(path):
    """Raises ValueError where the file is not laid out as it says. Other versions than 5 to 7 pass: SciPy reads what there is of
    version 4, and refuses 7.3."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        head = file.read(128)
        if len(head) < 128 or 0 in head[:4] or head[126:128] not in (b"IM", b"MI"):
            return
        order = "<" if head[126:128] == b"IM" else ">"
        if head[125 if order == "<" else 124] != 1:
            return
        most = max(_FREE_INFLATED, _MOST_INFLATED * size)
        place = 128
        while place < size:
            file.seek(place)
            element = _Element(_Source(file), order, 8 + (1 << 33))
            if element.small is not None or element.size > size - place - 8:
                raise ValueError(f"an element of {element.size} bytes has no place in the file")
            file.seek(place + 8)
            if element.type == _MATRIX:
                _check_array(_Source(file), order, element.size, 0)
            elif element.type == _COMPRESSED:
                source = _Source(file, element.size, most)
                inner = _Element(source, order, 1 << 33)
                if inner.type != _MATRIX or inner.small is not None:
                    raise ValueError("what is compressed there is no array")
                _check_array(source, order, inner.size, 0)
                most = source._most
            else:
                raise ValueError(f"an element of type {element.type} stands where an array may")
            place += 8 + element.size
