"""Writes tests/tools/data/line_tables.txt: line tables as real interpreters make them, with the lines that they stand for.

    for v in 3.9 3.10 3.11 3.12 3.13; do python$v tests/tools/make_line_tables.py; done > tests/tools/data/line_tables.txt

One code object a line: version, first line, table in hex, then begin:end:line for every range of bytecode (line 0: none).
"""
import dis
import sys

SOURCE = '''
def plain(a, b):
    c = a + b
    return c * 2


def long_call(a):
    return plain(
        a,
        plain(a,

              a + 1),
    )


def loops(items):
    total = 0
    for item in items:
        try:
            total += item
        except TypeError as error:
            total -= len(str(error))
        finally:
            total += 1
    with open("x") as handle:
        data = [line.strip()
                for line in handle
                if line]
    while total > 3:
        total -= 1
        if total == 5:
            continue
    return {k: v for k, v in
            zip(items, data)}


class Thing:
    """Text."""
    size: int = 3

    @property
    def area(self):
        return (self.size
                * self.size)
''' + "\n" * 300 + '''
def far(a):
    b = [a,''' + "\n" * 200 + '''
         a]
    assert a, (
        "no"
    )
    yield from b


async def waits(x):
    async with x as y:
        await y
    return lambda z: (
        z + 1)
'''


def ranges(code):
    size = len(code.co_code)
    if hasattr(code, "co_lines"):
        return [(begin, end, line or 0) for begin, end, line in code.co_lines()]
    starts = list(dis.findlinestarts(code))
    ends = [start for start, _ in starts[1:]] + [size]
    return [(start, end, line) for (start, line), end in zip(starts, ends)]


def show(code):
    table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
    words = ["%d:%d:%d" % r for r in ranges(code)]
    print("%08x" % sys.hexversion, code.co_firstlineno, table.hex() or "-", *words)
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            show(constant)


show(compile(SOURCE, "sample.py", "exec"))
