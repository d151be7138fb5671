"""Writes csrc/rewards/unicode_tables.h: white space, word characters and lower case, as this Python's Unicode has them.

python tools/unicode_tables.py > csrc/rewards/unicode_tables.h
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

LAST = 0x110000


def ranges(claim: Callable[[str], bool]) -> list[tuple[int, int]]:
    """[first, last] of each run of code points for which `claim` holds; ASCII is left out."""
    found: list[tuple[int, int]] = []
    for code in range(0x80, LAST):
        if claim(chr(code)):
            if found and found[-1][1] == code - 1:
                found[-1] = (found[-1][0], code)
            else:
                found.append((code, code))
    return found


def lower_runs() -> list[tuple[int, int, int, int]]:
    """[first, last, step, delta]: each step-th code point of the run becomes itself + delta. One-to-one cases only."""
    runs: list[tuple[int, int, int, int]] = []
    for code in range(0x80, LAST):
        lower = chr(code).lower()
        if len(lower) != 1 or ord(lower) == code:
            continue
        delta = ord(lower) - code
        if runs:
            first, last, step, same = runs[-1]
            gap = code - last
            if delta == same and ((first == last and gap in (1, 2)) or (first != last and gap == step)):
                runs[-1] = (first, code, gap, delta)
                continue
        runs.append((code, code, 1, delta))
    return runs


def table(kind: str, name: str, rows: list[tuple[int, ...]]) -> str:
    """A constexpr array, filled to 120 columns."""
    lines, line = [], "   "
    for row in rows:
        cell = " {" + ", ".join(f"{value:#x}" if i < 2 else str(value) for i, value in enumerate(row)) + "},"
        if len(line) + len(cell) > 120:
            lines.append(line)
            line = "   "
        line += cell
    return f"inline constexpr {kind} {name}[] = {{\n" + "\n".join([*lines, line]) + "\n};\n"


def main() -> None:
    many = [code for code in range(LAST) if len(chr(code).lower()) != 1]
    assert many == [0x130], "another code point has a lower case of several: text_chars.h knows U+0130 alone"
    print(
        "// Written by tools/unicode_tables.py from Unicode "
        f"{unicodedata.unidata_version}: do not edit.\n// clang-format off\n#pragma once\n\n#include <cstdint>\n\n"
        "namespace ae::rewards::unicode {\n\nstruct Range {\n  uint32_t first, last;\n};\n"
        "struct LowerRun {\n  uint32_t first, last;\n  int32_t step, delta;\n};\n"
    )
    print("// str.isspace")
    print(table("Range", "kSpace", list(ranges(str.isspace))))
    print("// \\w of re: str.isalnum (the underscore is ASCII)")
    print(table("Range", "kWord", list(ranges(str.isalnum))))
    print("// str.lower of one character, where that is one other character")
    print(table("LowerRun", "kLower", list(lower_runs())))
    print("}  // namespace ae::rewards::unicode")


if __name__ == "__main__":
    main()
