# SPDX-License-Identifier: BSD-3-Clause
"""Members of structs in what abidw writes: abidiff's suppressions allow growth at the end of a struct, but then also a
renamed or retyped member, so the rule itself is checked here: old members stay in place."""

import xml.etree.ElementTree


class Interface:
    def __init__(self, path):
        root = xml.etree.ElementTree.parse(path).getroot()
        self.types = {element.get("id"): element for element in root.iter() if element.get("id")}
        self.structs = {element.get("name"): element for element in root.iter("class-decl")}

    def spelling(self, identity):
        """A type as text, so that types of two files can be compared."""
        element = self.types[identity]
        if element.tag == "pointer-type-def":
            return self.spelling(element.get("type-id")) + " *"
        if element.tag == "qualified-type-def":
            words = [word for word in ("const", "volatile", "restrict") if element.get(word) == "yes"]
            return " ".join([*words, self.spelling(element.get("type-id"))])
        if element.tag == "array-type-def":
            return self.spelling(element.get("type-id")) + f"[{element.get('size-in-bits')} bits]"
        if element.tag == "function-type":
            parts = [self.spelling(part.get("type-id")) for part in element if part.get("type-id")]
            return f"function({', '.join(parts)})"
        return element.get("name")

    def members(self, struct):
        """(offset in bits, type, name) of each member, in order."""
        found = []
        for member in self.structs[struct].iter("data-member"):
            variable = member.find("var-decl")
            found.append((int(member.get("layout-offset-in-bits")), self.spelling(variable.get("type-id")),
                          variable.get("name")))  # fmt: skip
        return found


def moved_members(old_path, new_path, structs):
    """Old members of these structs whose place or type has changed; empty when there are none."""
    old, new = Interface(old_path), Interface(new_path)
    problems = []
    for struct in structs:
        if struct not in old.structs:
            continue  # newer than the baseline
        before, after = old.members(struct), new.members(struct) if struct in new.structs else []
        for k, member in enumerate(before):
            if after[k : k + 1] != [member]:
                offset, kind, name = member
                problems.append(f"{struct}: '{kind} {name}' at bit {offset} is {after[k : k + 1] or 'gone'}")
    return problems
