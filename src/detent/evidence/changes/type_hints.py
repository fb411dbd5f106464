"""Python without what only type checkers read, to see whether two versions do the same. Pure: text in, text out.

Hints that programs read as they run stay: of fields in classes with bases or decorators (dataclasses, models), of functions that a decorator may look
at, and hints that call something (`Annotated[int, Field(gt=0)]`).
"""

import ast

MODULES = frozenset({"typing", "typing_extensions", "collections.abc", "__future__"})
INERT = frozenset(  # decorators that read no hints
    {"staticmethod", "classmethod", "property", "cached_property", "lru_cache", "cache", "wraps", "abstractmethod", "contextmanager",
     "asynccontextmanager", "override", "final", "setter", "getter", "deleter"}
)  # fmt: skip
VARIABLES = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})


def without_hints(text: str) -> str:
    """The syntax of a program, without type hints and docstrings."""
    tree = ast.parse(text)
    return ast.dump(_Bare(_casts(tree)).visit(tree))


def _casts(tree: ast.Module) -> frozenset[str]:
    """How this file calls the `cast` of type checkers, which returns what it is given."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module in ("typing", "typing_extensions")]
    return frozenset({"typing.cast", *(alias.asname or alias.name for node in imports for alias in node.names if alias.name == "cast")})


class _Bare(ast.NodeTransformer):
    """Takes out what type checkers alone read."""

    def __init__(self, casts: frozenset[str]) -> None:
        self.casts = casts
        self.fields_count = False  # inside a class whose hints are read as it is made

    def visit_Module(self, node: ast.Module) -> ast.AST:
        return self._bodied(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        outer, self.fields_count = (
            self.fields_count,
            bool(node.decorator_list or node.keywords or [b for b in node.bases if not _is_generic(b)]),
        )
        node.bases = [base for base in node.bases if not _is_generic(base)]
        self._bodied(node)
        self.fields_count = outer
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST | None:
        return self._function(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if self.fields_count or _calls(node.annotation):
            return node
        return self.visit(ast.Assign(targets=[node.target], value=node.value)) if node.value else None

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return None if isinstance(node.value, ast.Call) and _name(node.value.func) in VARIABLES else self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if node.module in MODULES and not node.level else node

    def visit_Import(self, node: ast.Import) -> ast.AST | None:
        node.names = [alias for alias in node.names if alias.name not in MODULES]
        return node if node.names else None

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if _name(node.test) == "TYPE_CHECKING" and not node.orelse else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        is_cast = ast.unparse(node.func) in self.casts and len(node.args) == 2 and not node.keywords
        return self.visit(node.args[1]) if is_cast else self.generic_visit(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST | None:
        decorators = [_name(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list]
        if "overload" in decorators:
            return None
        if set(decorators) <= INERT:
            every = node.args
            for arg in (*every.posonlyargs, *every.args, *every.kwonlyargs, every.vararg, every.kwarg):
                if arg is not None and not _calls(arg.annotation):
                    arg.annotation = None
            node.returns = None
        outer, self.fields_count = self.fields_count, False
        self._bodied(node)
        self.fields_count = outer
        return node

    def _bodied(self, node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
            del node.body[0]
        return self.generic_visit(node)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _is_generic(base: ast.expr) -> bool:
    return isinstance(base, ast.Subscript) and _name(base.value) == "Generic"


def _calls(annotation: ast.expr | None) -> bool:
    return annotation is not None and any(isinstance(node, ast.Call) for node in ast.walk(annotation))
