"""What the sources of a face define: its functions, what each uses, and what a comment says is missing.

Sources are formatted, so a definition begins with a line at the margin and goes on to the next such line that no brace
begins. A comment `// PARTIAL: ...`, on as many lines as it takes, belongs to the function of the face right below it.
"""
import collections
import re

PARTIAL = "// PARTIAL: "
# How the faces write their functions, with the name in the first group.
DRIVER_FUNCTION = re.compile(r"CUresult face::(\w+)\(")
RUNTIME_FUNCTION = re.compile(r"(?:extern \"\" [^(]*\b|CUHEAP_\w+\()(cuda\w+)(?=[(,])")
# A function that is none of the face, or a type.
HELPER = re.compile(r"(?:class|struct) (\w+)|(?!namespace|using)[^(={;]*?\b(\w+)\(")
NAME = re.compile(r"(face::|::|\.|->)?\b([A-Za-z_]\w*)(\s*\()?")

Function = collections.namedtuple("Function", "uses partial")  # partial: what the comment says is missing
NO_FUNCTION = Function(frozenset(), "")


class Face:
    """The functions of a face by name, each with the names that it uses, those of helpers among them.

    Functions of the driver's face are used as `face::Name`."""

    def __init__(self, sources, pattern):
        self.functions = {}
        read = [read_source(source, text, pattern) for source, text in sources.items()]
        everywhere = {name: uses for _, helpers in read for name, uses in helpers.items()}
        for functions, helpers in read:
            for name, function in functions.items():
                uses = with_helpers(function.uses, {**everywhere, **helpers}) - {name, "face::" + name}
                self.functions[name] = function._replace(uses=uses)

    def __getitem__(self, name):
        return self.functions.get(name, NO_FUNCTION)


def read_source(source, text, pattern):
    """The functions of the face that a source defines, with what their own text uses, and its helpers' uses."""
    functions = {}
    helpers = collections.defaultdict(set)
    for comment, code in definitions(text):
        if function := pattern.match(code):
            functions[function[1]] = Function(names_in(code, member=True), comment)
        elif comment:
            raise ValueError(f"{source}: a PARTIAL comment above no function of the face: {comment}")
        elif helper := HELPER.match(code):
            helpers[helper[1] or helper[2]] |= names_in(code)
    return functions, helpers


def names_in(code, member=False):
    """The names that code uses. What a member of the face calls by its bare name may be another member."""
    names = set()
    for scope, name, call in NAME.findall(code):
        if scope == "face::":
            names.add(scope + name)
        elif not scope or (scope != "::" and name.startswith("cu")):  # an entry of the driver's table
            names.add(name)
            if member and call:
                names.add("face::" + name)
    return names


def definitions(text):
    """Pairs of a PARTIAL comment, which may be empty, and the code below it, which has lost its comments and strings."""
    comment, code = "", ""
    in_comment = False
    for line in re.sub(r"^#.*(?:\\\n.*)*", "", text, flags=re.M).splitlines():
        begins = line.startswith(PARTIAL)
        if code and (begins or line[:1] not in ("", " ", "}", ")", "/")):
            yield comment, code
            comment, code = "", ""
        if begins:
            comment = line.removeprefix(PARTIAL).strip()
        elif in_comment and line.startswith("// "):
            comment += " " + line.removeprefix("// ").strip()
        in_comment = begins or (in_comment and line.startswith("// "))
        bare = re.sub(r"//.*", "", re.sub(r'"(?:[^"\\]|\\.)*"', '""', line))
        code += bare + "\n" if bare.strip() else ""
    if code or comment:
        yield comment, code


def with_helpers(names, helpers):
    """The names and, where they are helpers, what these use."""
    seen, waiting = set(), set(names)
    while waiting:
        name = waiting.pop()
        seen.add(name)
        waiting |= helpers.get(name, set()) - seen
    return seen
