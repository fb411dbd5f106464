"""The values of constant expressions in Python: concatenated, reversed, decoded or named strings. Pure; no code is run.

A word can be hidden by writing it in pieces. Only values that are certain are returned, and only small ones.
"""

import ast
import base64
import binascii
import codecs
from collections import Counter
from collections.abc import Callable, Mapping

LARGEST = 2000  # characters of a value
DEEPEST = 40
Value = str | bytes | int | tuple["Value", ...]
METHODS = frozenset(
    {"join", "replace", "lower", "upper", "strip", "lstrip", "rstrip", "format", "decode", "encode", "removeprefix", "removesuffix", "title",
     "capitalize", "swapcase", "casefold", "hex"}
)  # fmt: skip
DECODERS: Mapping[str, Callable[[str | bytes], bytes]] = {
    "b64decode": base64.b64decode,
    "b32decode": base64.b32decode,
    "unhexlify": binascii.unhexlify,
    "a2b_hex": binascii.unhexlify,
}


class FoldedConstants:
    """The constant expressions of one file."""

    def __init__(self, tree: ast.AST) -> None:
        often, values = _bound(tree)
        self.named = {name: value for name, value in values.items() if often[name] == 1}  # only names that are bound once

    def value(self, node: ast.AST | None, deep: int = 0) -> Value | None:
        """The value of an expression; None if it is not certain."""
        if node is None or deep > DEEPEST:
            return None
        try:
            found = self._value(node, deep + 1)
        except (TypeError, ValueError, LookupError, AttributeError, OverflowError, MemoryError):
            return None
        return found if isinstance(found, int) or (found is not None and len(found) <= LARGEST) else None

    def text(self, node: ast.AST | None) -> str:
        """The value as text; empty if it is no text."""
        found = self.value(node)
        return found if isinstance(found, str) else found.decode("latin-1") if isinstance(found, bytes) else ""

    def _value(self, node: ast.AST, deep: int) -> Value | None:
        match node:
            case ast.Constant(value=str() | bytes() | int() as known):
                return known
            case ast.Name(id=name) if name in self.named:
                return self.value(self.named[name], deep)
            case ast.JoinedStr(values=parts):
                return self._joined(parts, deep)
            case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
                found = self.value(inner, deep)
                return None if found is None else str(found)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                found_all = [self.value(part, deep) for part in parts]
                return None if None in found_all else tuple(each for each in found_all if each is not None)
            case ast.BinOp():
                return self._operated(node, deep)
            case ast.Subscript(value=of, slice=at):
                return self._taken(of, at, deep)
            case ast.Call():
                return self._called(node, deep)
        return None

    def _joined(self, parts: list[ast.expr], deep: int) -> str | None:
        found = [self.value(part, deep) for part in parts]
        return None if any(each is None for each in found) else "".join(str(each) for each in found)

    def _operated(self, node: ast.BinOp, deep: int) -> Value | None:
        left, right = self.value(node.left, deep), self.value(node.right, deep)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add) and type(left) is type(right):
            return left + right  # type: ignore[operator]  # both have the same type
        if isinstance(node.op, ast.Mod) and isinstance(left, str):
            return left % right
        numbers = isinstance(left, int) and isinstance(right, int)
        if isinstance(node.op, ast.Sub) and numbers:
            return left - right  # type: ignore[operator]
        return left ^ right if isinstance(node.op, ast.BitXor) and numbers else None  # type: ignore[operator]

    def _taken(self, of: ast.expr, at: ast.expr, deep: int) -> Value | None:
        whole = self.value(of, deep)
        if whole is None or isinstance(whole, int):
            return None
        if not isinstance(at, ast.Slice):
            index = _number(at)
            return None if index is None else whole[index]
        return whole[slice(*(None if each is None else _number(each) for each in (at.lower, at.upper, at.step)))]

    def _called(self, node: ast.Call, deep: int) -> Value | None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "map" and len(node.args) == 2 and isinstance(node.args[0], ast.Name) and node.args[0].id in ("chr", "str"):
            numbers = self.value(node.args[1], deep)
            return None if numbers is None or isinstance(numbers, int) else tuple(chr(int(n)) for n in numbers)  # type: ignore[arg-type]
        args = [self.value(arg, deep) for arg in node.args]
        if any(arg is None for arg in args) or node.keywords:
            return None
        if isinstance(node.func, ast.Attribute) and name in METHODS:
            of = self.value(node.func.value, deep)
            found = None if of is None else getattr(of, name)(*args)
            if of is not None:
                return found if isinstance(found, str | bytes) else None
        return _made(name, [arg for arg in args if arg is not None])


def _made(name: str, args: list[Value]) -> Value | None:
    """The result of a standard library function that turns one constant text into another."""
    first = args[0] if args else ""
    match name:
        case "chr" if isinstance(first, int):
            return chr(first)
        case "str":
            return str(first)
        case "reversed" if isinstance(first, str):
            return first[::-1]
        case "bytes" | "bytearray" | "tuple" | "list" if isinstance(first, bytes | tuple):
            return bytes(n for n in first if isinstance(n, int)) if name.startswith("byte") else first
        case "fromhex" if isinstance(first, str):
            return bytes.fromhex(first)
        case "decode" if len(args) > 1 and "rot" in str(args[1]):
            return codecs.decode(str(first), "rot13")
        case _ if name in DECODERS and isinstance(first, str | bytes):
            return DECODERS[name](first)
    return None


def _number(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            return -number
    raise ValueError("it is not a number")


def _bound(tree: ast.AST) -> tuple[Counter[str], dict[str, ast.expr]]:
    """How often a file binds each name, and the values assigned to single names."""
    often, values = Counter[str](), dict[str, ast.expr]()
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.NamedExpr(target=ast.Name(id=name), value=value):
                values[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                values[name] = value
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                often[name] += 1
    return often, values
