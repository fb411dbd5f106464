"""A release in one command: `./x release --dry-run` checks everything and publishes nothing; without the flag it also creates the tag.

Checked are the version, the changelog, the checkout, the wheel and the source distribution (built and opened here), the bill of materials,
and the project's checks. CI uploads the release for the tag, by trusted publishing (.github/workflows/release.yml).
"""

import argparse
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = ROOT / ".tools" / "bin" / "uv"
VERSION = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")
IN_WHEEL = (  # what an installed Detent needs besides its modules
    "detent/interfaces/http/static/index.html",
    "detent/evidence/runners/reporters/node_reporter.mjs",
    "detent/examples/python-slugify/agent.yaml",
    "detent/workflows/pr/briefings/INITIALIZING.md",
    "detent/interfaces/check.schema.json",
    "detent/sandbox/start.sh",
    "detent/py.typed",
)
IN_SOURCE = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "src/detent/__init__.py", "tests/test_house.py")
NEVER = re.compile(r"(?:^|/)(?:\.git|\.venv|\.tools|node_modules|__pycache__)/|\.pyc$|(?:^|/)\.env$")


class Wrong(Exception):
    """A sentence about something that blocks a release."""


def project(root: Path = ROOT) -> dict[str, str]:
    """Name and version of the distribution, from pyproject.toml."""
    table = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return {"name": table["name"], "version": table["version"]}


def version(root: Path = ROOT) -> str:
    """Check that the version and the distribution's name are the same everywhere."""
    said = project(root)
    own = _literal(root / "src/detent/__init__.py", "__version__")
    if own != said["version"]:
        raise Wrong(f"pyproject.toml says {said['version']}, and src/detent/__init__.py says {own}")
    if not VERSION.fullmatch(own):
        raise Wrong(f"{own} is no version such as 1.2.3 or 1.2.3rc1")
    known = _literal(root / "src/detent/installation.py", "DISTRIBUTION")
    if known != said["name"]:
        raise Wrong(f"pyproject.toml names the distribution {said['name']}, and src/detent/installation.py {known}")
    return f"{said['name']} {own}"


def changelog(root: Path = ROOT) -> str:
    """Check that the changelog has a section for this version with entries."""
    wanted = project(root)["version"]
    text = (root / "CHANGELOG.md").read_text("utf-8")
    heads = list(re.finditer(r"^## (.+)$", text, re.MULTILINE))
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        if wanted in head[1] or head[1].strip("[] ").lower() == "unreleased":
            body = text[head.end() : after.start() if after else len(text)]
            lines = [line for line in body.splitlines() if line.startswith("- ")]
            if not lines:
                raise Wrong(f"CHANGELOG.md: '{head[1]}' says nothing")
            return f"{len(lines)} entries under '{head[1]}'"
    raise Wrong(f"CHANGELOG.md has no section for {wanted}")


def checkout(root: Path = ROOT) -> str:
    """Check that everything is committed and the tag does not exist yet."""
    changed = _git(root, "status", "--porcelain")
    if changed:
        raise Wrong(f"{len(changed.splitlines())} files are not committed, such as {changed.splitlines()[0][3:]}")
    tag = f"v{project(root)['version']}"
    if _git(root, "tag", "--list", tag):
        raise Wrong(f"there is a tag {tag} already; raise the version")
    return f"clean, at {_git(root, 'rev-parse', '--short', 'HEAD')}"


def wheel(files: list[Path]) -> str:
    """Check that the wheel has what an installed Detent needs, and nothing of this machine."""
    (file,) = [each for each in files if each.suffix == ".whl"]
    with zipfile.ZipFile(file) as held:
        names = held.namelist()
        (metadata,) = [held.read(name).decode() for name in names if name.endswith(".dist-info/METADATA")]
    if missing := [name for name in IN_WHEEL if name not in names]:
        raise Wrong(f"the wheel lacks {missing[0]}")
    if bad := [name for name in names if NEVER.search(name) or name.startswith("tests/")]:
        raise Wrong(f"the wheel has {bad[0]}")
    if "Provides-Extra: all\n" not in metadata or "Description-Content-Type: text/markdown" not in metadata:
        raise Wrong("the metadata of the wheel lacks the extra `all`, or the text of the README")
    return f"{file.name}, {len(names)} files, {file.stat().st_size / 1e6:.1f} MB"


def source(files: list[Path]) -> str:
    """Check that the source distribution is enough to build and test from."""
    (file,) = [each for each in files if each.name.endswith(".tar.gz")]
    with tarfile.open(file) as held:
        names = [name.partition("/")[2] for name in held.getnames()]
    if missing := [name for name in IN_SOURCE if name not in names]:
        raise Wrong(f"the source distribution lacks {missing[0]}")
    if bad := [name for name in names if NEVER.search(name)]:
        raise Wrong(f"the source distribution has {bad[0]}")
    return f"{file.name}, {len(names)} files, {file.stat().st_size / 1e6:.1f} MB"


def built(out: Path) -> list[Path]:
    """Build wheel and source distribution."""
    for old in [*out.glob("*.whl"), *out.glob("*.tar.gz")]:
        old.unlink()
    _run([str(UV), "build", "--quiet", "--out-dir", str(out)])
    return sorted([*out.glob("*.whl"), *out.glob("*.tar.gz")])


def materials(out: Path) -> str:
    """Write the bill of materials (CycloneDX 1.5) of all locked packages of an installed Detent with all extras."""
    said = project()
    done = _run([str(UV), "export", "--quiet", "--frozen", "--no-dev", "--all-extras", "--format", "cyclonedx1.5"])
    bill = json.loads(done)
    parts = [part for part in bill["components"] if part.get("purl")]
    if bill.get("specVersion") != "1.5" or len(parts) < 10:
        raise Wrong(f"the bill of materials names {len(parts)} packages")
    file = out / f"{said['name']}-{said['version']}.cdx.json"
    file.write_text(json.dumps(bill, indent=1, sort_keys=True) + "\n", "utf-8")
    return f"{file.name}, {len(parts)} packages"


def _literal(file: Path, name: str) -> str:
    found = re.search(rf'^{name} = "([^"]+)"$', file.read_text("utf-8"), re.MULTILINE)
    if not found:
        raise Wrong(f"{file.name} sets no {name}")
    return found[1]


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def _run(argv: list[str]) -> str:
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise Wrong(f"`{' '.join(argv[:3])} …` failed: {done.stderr.strip()[-600:]}")
    return done.stdout


def _checks() -> str:
    if subprocess.run([str(ROOT / ".ci" / "run")], cwd=ROOT).returncode != 0:
        raise Wrong("the checks fail (above)")
    return "./x check passes"


def steps(out: Path, with_checks: bool) -> Iterator[tuple[str, Callable[[], str]]]:
    files = list[Path]()

    def build() -> str:
        files.extend(built(out))
        return wheel(files)

    yield "version", version
    yield "changelog", changelog
    yield "checkout", checkout
    yield "wheel", build
    yield "sdist", lambda: source(files)
    yield "SBOM", lambda: materials(out)
    if with_checks:
        yield "checks", _checks


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./x release", description="Look at everything that a release needs; without --dry-run, tag it.")
    parser.add_argument("--dry-run", action="store_true", help="make no tag")
    parser.add_argument("--without-checks", action="store_true", help="leave ./x check out: CI runs it for the tag anyway")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where wheel, sdist and SBOM are put (dist)")
    said = parser.parse_args(argv)
    said.out.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for name, look in steps(said.out, not said.without_checks):
        try:
            print(f"ok  {name:<10} {look()}", flush=True)
        except Wrong as e:
            wrong += 1
            print(f"NO  {name:<10} {e}", flush=True)
    tag = f"v{project()['version']}"
    if wrong:
        print(f"\nNot released: {wrong} of these must be fixed first.")
        return 1
    if said.dry_run:
        print(f"\nAll good. Nothing was published. `./x release` makes the tag {tag}; pushing it has CI publish: git push origin {tag}")
        return 0
    _git(ROOT, "tag", "-a", tag, "-m", f"Detent {project()['version']}")
    print(f"\nTagged {tag}. Publish it: git push origin {tag}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
