"""Packages installed beside Detent: a real environment with Detent and the example, and packages laid out by hand."""

import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from tests.project import ROOT, Project

EXAMPLE = ROOT / "examples" / "extension"
UV = ROOT / ".tools" / "bin" / "uv"
Points = Mapping[str, Mapping[str, str]]  # entry points by group and name


def fresh_environment(folder: Path) -> Path:
    """An environment with this Detent and the example built and installed; their dependencies are those of the tests."""
    python = folder / "bin" / "python"
    for words in (
        ("venv", "--quiet", "--python", sys.executable, str(folder)),
        ("pip", "install", "--quiet", "--offline", "--no-deps", "--python", str(python), str(ROOT), str(EXAMPLE)),
    ):
        done = subprocess.run([str(UV), *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "needed.pth").write_text(sysconfig.get_path("purelib"))  # after its own packages, so that the installed Detent wins
    return folder


class Installed(Project):
    """A project whose calls use the Detent of an environment."""

    def __init__(self, folder: Path, files: dict[str, str], environment: Path) -> None:
        super().__init__(folder, files)
        self.detent = environment / "bin" / "detent"
        del self.env["PYTHONPATH"]

    def argv(self, *args: str) -> list[str]:
        return [str(self.detent), *args]

    def alone(self, *args: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.argv(*args), cwd=self.root, env={**self.env, **env}, input=stdin, capture_output=True, text=True, errors="replace"
        )


class Beside(Project):
    """A project, with packages laid out beside Detent as an installer would. Each call is a process of its own."""

    def __init__(self, folder: Path, files: dict[str, str] | None = None) -> None:
        super().__init__(folder / "p", files)
        self.site = folder / "site"
        self.env["PYTHONPATH"] = f"{ROOT / 'src'}:{self.site}"

    def install(self, package: str, points: Points, files: Mapping[str, str] | None = None) -> None:
        info = self.site / f"{package.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        groups = (f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in each.items()) for group, each in points.items())
        (info / "entry_points.txt").write_text("\n".join(groups))
        for path, text in (files or {}).items():
            (self.site / path).parent.mkdir(parents=True, exist_ok=True)
            (self.site / path).write_text(text)

    def alone(self, *args: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.argv(*args), cwd=self.root, env={**self.env, **env}, input=stdin, capture_output=True, text=True, errors="replace"
        )
