#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a public header for Doxygen: header_filter.py FILE.h

The headers have plain comments. This filter gives every declaration the comment that a reader sees for it:
the comment above it, or behind it; a comment above several lines without a blank line between belongs to all of them.
Values of an enum without a comment of their own have that of the enum; values that a table of X(...) makes have its text.
What has no comment by these rules stays without one, and Doxygen reports it.
"""

import re
import sys

TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|^[ \t]*#(?:[^\\\n]|\\\n|\\.)*|[{}();,]|\n|[^\S\n]+|[^\s{}();,"/#]+|.', re.S | re.M)
# What the headers say once, or call the same everywhere: pattern of a declaration, and its comment. The second list is for
# declarations without a comment of their own.
CONVENTIONS = (
    (r"struct_size$", "Size of the struct as the program compiled it; the library looks no further."),
    (r"reserved\d*(\[\d+\])?$", "Zero."),
    (r"_user$", "Handed to the callback of the same name."),
    (r"_options_init\(|_set_init\(", "Writes the defaults, no further than struct_size."),
    (r"_destroy\(sxt_", "Frees the object. NULL is allowed, and it never fails. What was made from the object keeps what it needs. [exclusive]"),
)
DEFAULTS = (
    (r"#define SXT_(KIND|SERVICE)_", "Name of the kind or service that this header describes."),
    (r"(?<!_)struct.*\{ sxt_\w+_args", "What one run of a kernel of this kind is given."),
    (r"(?<!_)struct.*\{ sxt_\w+_query", "What models and kernels of this kind are asked."),
    (r"(?<!_)struct.*\{ sxt_\w+_ops", "The operations of kernels of this kind: sxt_kernel.ops."),
    (r"^sxt_head h$", "Size and kind."),
    (r"^sxt_query q$", "How every query begins."),
    (r"^sxt_matrix_query m$", "How every query about a matrix begins."),
    (r"^sxt_storage s$", "How every storage begins."),
    (r"^sxt_\w+ one$", "The struct that this one goes on from."),
    (r"\bn$", "Number of elements."),
    (r"\bn_rhs$", "Number of right-hand sides."),
    (r"\bn_dots$", "Number of inner products."),
    (r"\boperation$", "Of the table in this header."),
    (r"\bgroup$", "Of the table in this header."),
    (r"\brows$", "Number of rows."),
    (r"\bcols$", "Number of columns."),
    (r"\bnnz$", "Number of entries; both triangles."),
    (r"\brow_ptr$", "Where each row begins, and the end of the last: rows + 1 offsets."),
    (r"\brow$", "The row of each entry."),
    (r"\bcol$", "The column of each entry."),
    (r"\bld[abc]?$", "Leading dimension, in values."),
    (r"\bstride_(a|b|pivots|scale)$", "From one system to the next, in values."),
    (r"\b\w+_array$", "With pointer_array: a pointer for each system, in place of the strided array."),
    (r"\b\w+_each$", "With leading_vary: one for each system."),
    (r"\bbatch$", "Number of systems."),
    (r"\bn_max$", "The largest order in the set."),
    (r"\babi_(major|minor)$", "Version of the plugin ABI."),
    (r"^sxt_value_type (value|vector)_type$", "Type of the values."),
    (r"^sxt_triangle triangle$", "The triangle that is read and written."),
    (r"^const char \*description$", "One line for people."),
    (r"scratch_bytes$", "Scratch that exec lends for the call, in bytes."),
    (r"state_bytes$", "Bytes that the state holds."),
    (r"^sxt_index_type index_type$", "Type of the indices."),
    (r"^sxt_op op$", "A, its transpose or its conjugate transpose."),
)


def plain(comment):
    """The text of a comment, with what Doxygen would take as a command written out."""
    lines = [re.sub(r"^\s*\*? ?", "", line) for line in comment[2:-2].split("\n")]
    text = "\n".join(lines).strip(" -\n")
    return re.sub(r"([@\\#%<>&$])", r"\\\1", text)


def convention(declaration):
    return next((words for pattern, words in CONVENTIONS if re.search(pattern, declaration)), "")


def default(declaration):
    return next((words for pattern, words in DEFAULTS if re.search(pattern, declaration)), "")


class Scope:
    """A file, a struct or an enum while its declarations are read."""

    def __init__(self, kind, inherited=""):
        self.kind, self.inherited = kind, inherited
        self.shared = self.lead = self.text = ""
        self.depth = 0


class Filter:
    def __init__(self, text):
        self.source, self.out, self.tables = text, [], {}
        self.scopes = [Scope("file")]
        self.pending = None  # a finished declaration [text, lead, trail, column], which a comment may still follow
        self.files_comments, self.about_file = 0, ""
        self.column, self.new_line, self.line_has_code = 0, True, False
        self.place = 0  # in the output, before the struct that is read
        self.skip = 0  # nesting of conditionals that are for compilers alone
        self.x_macro = None

    @property
    def scope(self):
        return self.scopes[-1]

    def run(self):
        blank = 0
        for match in TOKEN.finditer(self.source):
            token = match.group(0)
            self.column = match.start() - (self.source.rfind("\n", 0, match.start()) + 1)
            if token == "\n":
                blank += 1
                if blank == 2 and self.scope.depth == 0:
                    self.flush()
                    self.scope.shared = self.scope.lead = ""
                self.line_has_code = False
                continue
            if token.isspace():
                self.scope.text += " " if self.scope.text else ""
                continue
            blank = 0
            self.take(token)
        self.flush()
        return "".join(self.out)

    def take(self, token):
        if token.lstrip().startswith("#"):
            self.directive(token.strip())
        elif self.skip:
            return
        elif token.startswith("/*"):
            self.comment(token)
        else:
            self.line_has_code = True
            self.code(token)

    # ---- comments ----

    def comment(self, token):
        text = plain(token)
        if self.files_comments < 2:
            self.files_comments += 1
            if self.files_comments == 2:
                self.about_file = text
                self.out.append(f"/** @file\n{text} */\n")
            return
        if re.fullmatch(r"/\* -{3,}.*", token.split("\n")[0]):
            return  # the heading of a section
        follows = self.pending and (self.line_has_code or self.column == self.pending[3] != 0)
        if follows:
            self.pending[2] = f"{self.pending[2]} {text}".strip()
            self.pending[3] = self.column
        elif self.scope.text.strip():
            self.scope.lead = f"{self.scope.lead} {text}".strip()
        elif self.scope.kind != "file" and self.line_has_code:
            self.about_scope(text)
        else:
            self.flush()
            self.scope.lead = self.scope.shared = text

    def about_scope(self, text):
        """A comment behind the brace that opens a struct or an enum is about all of it."""
        self.scope.inherited = f"{self.scope.inherited} {text}".strip()
        if self.out[self.place].startswith("/**"):
            del self.out[self.place]
        self.out.insert(self.place, f"/** {self.scope.inherited} */\n")

    # ---- code ----

    def code(self, token):
        scope = self.scope
        if token == "{":
            self.open()
        elif token == "}":
            self.finish()
            self.flush()
            self.scopes.pop()
            self.scope.text += "} "
        elif token in "()":
            scope.depth += 1 if token == "(" else -1
            scope.text += token
        elif (token == ";" or (token == "," and scope.kind == "enum")) and scope.depth == 0:
            self.finish()
        else:
            if self.pending and not scope.text.strip():
                self.flush()
            scope.text += token

    def open(self):
        self.flush()
        scope = self.scope
        head = re.sub(r"\s+", " ", scope.text).strip()
        kind = "enum" if re.match(r"(typedef )?enum\b", head) else "struct"
        about = scope.lead or (scope.shared if kind == "enum" else "")
        self.place = len(self.out)
        self.document(about)
        self.out.append(head + " {\n")
        scope.text, scope.lead, scope.shared = "", "", about
        self.scopes.append(Scope(kind, about))

    def finish(self):
        """A declaration ends; a comment on its line may still belong to it."""
        self.flush()
        scope = self.scope
        text, scope.text = re.sub(r"\s+", " ", scope.text).strip(), ""
        if text and not text.startswith("SXT_STATIC_ASSERT"):
            self.pending = [text, scope.lead, "", 0]
        scope.lead = ""

    def flush(self):
        if not self.pending:
            return
        text, lead, trail, _ = self.pending
        self.pending, scope = None, self.scope
        if text.startswith("}"):
            self.out.append(text + ";\n")
            about = f"{lead} {trail}".strip() or default("struct { " + text.lstrip("} "))
            if about and not self.out[self.place].startswith("/**"):
                self.out.insert(self.place, f"/** {about} */\n")
            return
        table = re.fullmatch(r"(SXT_\w+_TABLE)\(SXT_X\)", text)
        if table:
            self.expand(table.group(1))
            return
        text = text if text.startswith("#") else re.sub(r"\bSXT_(API|PLUGIN_EXPORT) ", "", text)
        if scope.kind == "file":
            about = f"{trail} {scope.shared}".strip() if not lead or trail else lead
        elif scope.kind == "enum":
            about = trail or lead or scope.inherited
        else:
            about = f"{lead} {trail}".strip() or scope.shared
            scope.shared = "" if trail and not lead else scope.shared
        for each in self.separate(text):
            known = convention(each)
            self.document(f"{known} {trail or lead}" if known else about or self.named(each) or default(each))
            self.out.append(each + ("" if each.startswith("#") else "," if scope.kind == "enum" else ";") + "\n")

    def named(self, declaration):
        """The comment of the struct, where it tells of this member by its name."""
        name = re.search(r"(\w+)(\[\w+\])?$", declaration)
        if self.scope.kind != "struct" or not name:
            return ""
        word = rf"\b{name.group(1)}\b"
        if re.search(word, self.scope.inherited):
            return self.scope.inherited
        return "The comment at the top of this file tells what it is." if re.search(word, self.about_file) else ""

    def separate(self, text):
        """`int a, *b` as `int a` and `int *b`."""
        if self.scope.kind != "struct" or "(" in text or "," not in text:
            return [text]
        first, *others = [part.strip() for part in text.split(",")]
        kind = re.match(r"(.*?)\s*(\*(?:\s*const)?\s*)*\w+(\[\w+\])?$", first).group(1)
        return [first, *(f"{kind} {other}" for other in others)]

    def document(self, about):
        if about:
            self.out.append(f"/** {about} */\n")

    # ---- directives ----

    def directive(self, line):
        word = re.match(r"#\s*(\w+)", line).group(1)
        if word in ("if", "ifdef", "ifndef"):
            guard = word == "ifndef" and re.search(r"_H$", line)
            self.skip += 0 if guard and not self.skip else 1
        elif word == "endif":
            self.skip -= 1 if self.skip else 0
        elif not self.skip and word == "include":
            self.flush()
            self.out.append(line.split("/*")[0] + "\n")
        elif not self.skip and word == "define":
            self.define(line)
        if self.skip == 0 and word not in ("define", "undef"):
            self.line_has_code = False

    def define(self, line):
        self.flush()
        name, parameters, body = re.match(r"#\s*define\s+(\w+)(\([^)]*\))?\s*(.*)", line, re.S).groups()
        if self.scope.kind == "enum":
            self.x_macro = (parameters.strip("()").replace(" ", "").split(","), body)
        elif not re.search(r"_H$", name):
            if name.endswith("_TABLE"):
                self.tables[name] = body
            code, _, trail = body.partition("/*") if not name.endswith("_TABLE") else (r"...", "", "")
            text = f"#define {name}{parameters or ''} " + code.strip()
            self.pending = [text.replace("\\\n", " "), self.scope.lead, plain("/*" + trail) if trail else "", 0]
            self.scope.lead = ""
            self.line_has_code = True

    def expand(self, name):
        """The values that a table makes by the SXT_X in force."""
        parameters, body = self.x_macro
        for arguments, remark in re.findall(r'\bX\(((?:"[^"]*"|[^)"])*)\)[ \t\\]*(/\*.*?\*/)?', self.tables[name], re.S):
            values = [value.strip(" \\\n") for value in re.findall(r'(?:"[^"]*"|[^,"])+', arguments)]
            words = max((value.strip('"') for value in values if value.startswith('"')), key=len, default="")
            text = body.rstrip(",")
            for parameter, value in zip(parameters, values):
                text = re.sub(rf"(##)?\b{parameter}\b(##)?", lambda _: value, text)
            self.document(re.sub(r"([@\\#%<>&$])", r"\\\1", words) if not remark else plain(remark))
            self.out.append(text.replace("##", "") + ",\n")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        header = Filter(file.read())
    sys.stdout.write(header.run())


if __name__ == "__main__":
    main()
