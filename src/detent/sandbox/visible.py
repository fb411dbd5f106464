"""The toolchains that a program sees without configuration, and the hint for one that is missing. Looks at paths; starts nothing.

A toolchain below the home is shown at its own path, read-only, without the files beside it, which may be keys and tokens.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from detent.sandbox.mounts import SYSTEM, closed
from detent.sandbox.sandbox_protocol import Room

PARTS = (
    "lib", "lib64", "libexec", "include", "share", "pkg", "src", "misc", "VERSION", "go.env",  # of most, and of go
    "pyvenv.cfg", "conf", "jmods", "legal", "release", "jre", "conda-meta", "condabin", "envs", "pkgs", "ssl",  # of java and of conda
)  # fmt: skip
PACKAGES = "node_modules"
SIGNS = (  # files that identify the folder above a `bin` as a toolchain
    "pyvenv.cfg", "lib/python3*", "lib/node_modules/npm", "include/node", "pkg/tool", "lib/rustlib", "conda-meta", "jmods", "lib/modules",
    "lib/ruby", "lib/php", "sdk/*/dotnet.dll",
)  # fmt: skip
MOST_LINKS = 2000  # symlinks followed per PATH folder


class ToolchainHome(NamedTuple):
    """Where a toolchain is kept: the variable that says so, else a folder in the home; and which parts of it are shown."""

    variable: str
    folder: str
    parts: tuple[str, ...] = ("",)


TOOLCHAINS = (
    ToolchainHome("PYENV_ROOT", ".pyenv"),
    ToolchainHome("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python"),
    ToolchainHome("UV_TOOL_DIR", ".local/share/uv/tools"),
    ToolchainHome("PIPX_HOME", ".local/share/pipx", ("venvs",)),
    ToolchainHome("NVM_DIR", ".nvm"),
    ToolchainHome("NPM_CONFIG_PREFIX", ".npm-global", ("bin", "lib")),
    ToolchainHome("VOLTA_HOME", ".volta", ("bin", "tools")),
    ToolchainHome("CARGO_HOME", ".cargo", ("bin", "registry", "git")),
    ToolchainHome("RUSTUP_HOME", ".rustup"),
    ToolchainHome("GOROOT", ".local/go"),
    ToolchainHome("GOPATH", "go", ("bin", "pkg")),
    ToolchainHome("ASDF_DATA_DIR", ".asdf"),
    ToolchainHome("MISE_DATA_DIR", ".local/share/mise"),
    ToolchainHome("PYTHONUSERBASE", ".local", ("lib",)),
    ToolchainHome("FNM_DIR", ".local/share/fnm"),
    ToolchainHome("PNPM_HOME", ".local/share/pnpm"),
    ToolchainHome("BUN_INSTALL", ".bun", ("bin", "install")),
    ToolchainHome("DENO_INSTALL_ROOT", ".deno", ("bin",)),
    ToolchainHome("RBENV_ROOT", ".rbenv"),
    ToolchainHome("rvm_path", ".rvm"),
    ToolchainHome("GEM_HOME", ".gem", ("ruby", "gems", "bin", "specifications", "extensions")),
    ToolchainHome("SDKMAN_DIR", ".sdkman", ("candidates",)),
    ToolchainHome("DOTNET_ROOT", ".dotnet"),
    ToolchainHome("NUGET_PACKAGES", ".nuget/packages"),
    ToolchainHome("MAVEN_REPOSITORY", ".m2/repository"),
    ToolchainHome("PLAYWRIGHT_BROWSERS_PATH", ".cache/ms-playwright"),
    ToolchainHome("PUPPETEER_CACHE_DIR", ".cache/puppeteer"),
    ToolchainHome("CYPRESS_CACHE_FOLDER", ".cache/Cypress"),
    ToolchainHome("NLTK_DATA", "nltk_data"),
    ToolchainHome("HF_HOME", ".cache/huggingface", ("hub", "datasets")),
)


def toolchains(outer: Mapping[str, str]) -> tuple[Path, ...]:
    """What is readable without configuration: this interpreter and environment, the installations on PATH, the known toolchains."""
    home = Path(outer.get("HOME") or Path.home())
    ours = (
        Path(__file__).resolve().parent.parent
    )  # programs of Detent's own run inside too; usually below our interpreter, but not in an editable install
    found = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent, ours]
    if environment := outer.get("VIRTUAL_ENV"):
        found += [Path(environment), *_base(Path(environment))]
    for kept in TOOLCHAINS:
        root = Path(outer.get(kept.variable) or home / kept.folder)
        found += [root / part for part in kept.parts]
    for folder in outer.get("PATH", "").split(os.pathsep):
        found += _on_path(Path(folder), home)
    return _outermost(path for path in found if path.is_absolute() and os.path.exists(path) and not closed(path.resolve(), home))


def _base(environment: Path) -> list[Path]:
    """The Python that a virtual environment was made from."""
    try:
        lines = (environment / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [Path(value.strip()).parent for name, _, value in (line.partition("=") for line in lines) if name.strip() == "home"]


def _on_path(folder: Path, home: Path) -> list[Path]:
    """What a PATH folder outside the system needs: below the home, the folder and its symlinks' targets; elsewhere, its installation."""
    if not folder.is_absolute() or not os.path.isdir(folder) or is_system(folder.resolve()):
        return []
    if not folder.resolve().is_relative_to(home.resolve()):
        return [installation(folder)]
    links = [entry.path for entry in _listed(folder)[:MOST_LINKS] if entry.is_symlink()]
    targets = {target for target in map(os.path.realpath, links) if not target.startswith(f"{folder.resolve()}{os.sep}")}
    programs = [target for target in map(Path, targets) if os.path.isfile(target) and not is_system(target)]
    needed = (path for program in programs for path in _needed(program, home.resolve()))
    return [folder, *_beside(folder, home), *_beside(folder.resolve(), home), *needed]


def _listed(folder: Path) -> list["os.DirEntry[str]"]:
    """The entries of a folder, by name; none if it cannot be read."""
    try:
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []


def _beside(folder: Path, home: Path) -> list[Path]:
    """The parts beside a `bin` folder below the home that its programs need, by name, since keys may lie there too."""
    above = folder.parent
    if folder.name != "bin" or above.resolve() in (home.resolve(), (home / ".local").resolve()):
        return []
    return [above / part for part in PARTS if os.path.exists(above / part)]


def _needed(program: Path, home: Path) -> list[Path]:
    """What the target of a symlink on PATH needs: its node_modules, its installation, or just itself.

    Below the home, a folder with a `bin` may be anything, even a project with its data: only known toolchains show their named parts.
    """
    folder = program.parent
    if PACKAGES in program.parts:
        return [Path(*program.parts[: program.parts.index(PACKAGES) + 1])]
    if folder.name != "bin":
        return [program]
    if not program.is_relative_to(home):
        return [installation(folder)]
    hidden = program.relative_to(home).parts[0].startswith(".")  # where installers put things, and people do not
    if hidden or any(any(folder.parent.glob(sign)) for sign in SIGNS):
        return [folder, *_beside(folder, home)]
    return [program]


def installation(folder: Path) -> Path:
    """The folder above `bin`, which also has the program's libraries; the folder itself if it is not a `bin` or is near the root."""
    return folder.parent if folder.name in ("bin", "sbin") and len(folder.parts) > 3 else folder


def is_system(path: Path) -> bool:
    return any(path.is_relative_to(place) for place in SYSTEM)


def _outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Without duplicates, and without paths inside others."""
    kept: list[Path] = []
    for path in sorted({Path(os.path.normpath(path)) for path in paths if not is_system(path.resolve())}):
        if not any(path.is_relative_to(other) for other in kept):
            kept.append(path)
    return tuple(kept)


def missing_inside(name: str, path: str, room: Room) -> str | None:
    """For a program that is on PATH outside but not visible inside: a sentence that says so, with the line to add. Else None."""
    found = shutil.which(name, path=path)
    if found is None:
        return None
    shown = [place.resolve() for place in (room.workspace, *room.writable, *room.readable)]
    real = Path(found).resolve()
    hidden = next(
        (p for p in (real, Path(found).parent.resolve()) if not is_system(p) and not any(p.is_relative_to(s) for s in shown)), None
    )
    if hidden is None:
        return None
    mount = installation(hidden.parent if hidden == real else hidden)
    return f'`{name}` is installed at {found}, but it is not visible inside the sandbox. Add to detent.toml: [sandbox] mounts = ["{mount}"]'
