"""Changes of where packages come from and what runs on installation: registries, URLs, aliases, hashes in lock files. Pure: texts in, words out.

A package of the same name from another source is another package, and a reviewer sees at best a line in a lock file.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

USUAL = frozenset(
    {"registry.npmjs.org", "registry.yarnpkg.com", "pypi.org", "files.pythonhosted.org", "rubygems.org", "index.rubygems.org", "proxy.golang.org",
     "sum.golang.org", "crates.io", "index.crates.io", "static.crates.io", "repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org",
     "repo.packagist.org", "api.nuget.org", "jsr.io", "npm.jsr.io"}
)  # fmt: skip
SETTINGS = re.compile(
    r"\.npmrc|\.yarnrc(?:\.yml)?|bunfig\.toml|pnpm-workspace\.yaml|\.?pip\.(?:conf|ini)|uv\.toml|poetry\.toml|nuget\.config|settings\.xml|composer\.json", re.IGNORECASE
)  # fmt: skip
ASKS = re.compile(
    r"(?:.*[-_./])?(?:requirements|constraints)[\w.-]*\.(?:txt|in)|requirements/[\w.-]+\.(?:txt|in)|pyproject\.toml|Pipfile|Gemfile|.*\.gemspec|Cargo\.toml"
)
LOCK = re.compile(
    r"package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lock|uv\.lock|poetry\.lock|pdm\.lock|Pipfile\.lock|Gemfile\.lock|Cargo\.lock"
)
PLACE = re.compile(r"(?:git\+)?(?:https?|ssh|git)://(?:[^/\s\"'@]*@)?([\w.-]+)|\bgit@([\w.-]+):")
FETCHED = re.compile(r"\bresolved\b|\btarball\b|\burl\s*=|\bremote:|\bregistry\b|^\s*source\s*=|\bgit\s*=", re.IGNORECASE)
RESOLVED = re.compile(r"\"resolved\"\s*:\s*\"[^\"]*\"")
SPEAKS = re.compile(
    r"(?:^|\s)(?:-i|--(?:extra-)?index-url|--find-links|-f|--trusted-host|-e)[ =]|\bregistry\b|\bindex(?:-url)?\b|\bsource\b|\s@\s|\bgit\b|\burl\b|\bmirror"
    r"|^\s*git\+|^\s*https?:",
    re.IGNORECASE,
)
LINKS = re.compile(
    r"^\[(?:project|tool\.poetry)\.urls\]\n(?:(?!\[).*\n?)*|^(?:homepage|repository|documentation)\s*=.*$", re.MULTILINE
)  # links for people
OF_PACKAGES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "overrides", "resolutions")
ELSEWHERE = re.compile(r"(?:npm:|git|github:|gitlab:|bitbucket:|https?:|file:\.\./\.\.)|[\w.-]+/[\w.-]+(?:#.*)?$")
INSTALLS = ("preinstall", "install", "postinstall")
PREPARES = ("prepare", "preprepare", "postprepare", "prepublish")  # run when the project itself is installed, also from a URL
USUAL_PREPARE = re.compile(
    r"(?:(?:is-ci \|\| )?(?:husky(?: install(?: \S+)?)?|lefthook install|simple-git-hooks|patch-package|tsc\b[\w ./-]*|(?:npm|yarn|pnpm|bun)(?: run)?(?: -s)? [\w:-]+"
    r"|(?:tsup|unbuild|rollup|rimraf|vite build|pkgroll|svelte-kit|ts-patch)\b[\w ./-]*)(?:\s*&&\s*|$))+"
)


def is_about_sources(path: str) -> bool:
    """Whether a file may define where packages come from."""
    name = PurePosixPath(path).name
    return name in ("package.json", "go.sum") or any(each.fullmatch(name) for each in (SETTINGS, ASKS, LOCK)) or bool(ASKS.fullmatch(path))


def other_sources(path: str, before: str, after: str) -> Iterator[str]:
    """New sources of packages that a change to a file introduces, in words."""
    name = PurePosixPath(path).name
    if name == "package.json":
        yield from _package(before, after)
    if SETTINGS.fullmatch(name) or ASKS.fullmatch(path) or ASKS.fullmatch(name):
        yield from (f"packages may now come from {host}" for host in _hosts(after, SPEAKS) if host not in _hosts(before, SPEAKS))
    if LOCK.fullmatch(name) and before:
        old_hosts, new_hosts = (_hosts("\n".join(RESOLVED.findall(t)) if name.endswith(".json") else t, FETCHED) for t in (before, after))
        yield from (f"packages are now fetched from {host}" for host in new_hosts if host not in old_hosts)
    if before and (LOCK.fullmatch(name) or name == "go.sum"):
        old, new = _hashes(name, before), _hashes(name, after)
        changed = sorted(each for each in old.keys() & new.keys() if not old[each] & new[each] and _kinds(old[each]) & _kinds(new[each]))
        yield from (f"{each} has a different hash for the same version" for each in changed)


def _hosts(text: str, speaks: re.Pattern[str]) -> list[str]:
    """The hosts in a file's lines about packages, without the usual registries."""
    lines = [
        line for line in re.sub(LINKS, "", text).splitlines() if speaks.search(line) and not line.lstrip().startswith(("#", "//", ";"))
    ]
    found = dict.fromkeys(host[0] or host[1] for line in lines for host in PLACE.findall(line))
    return [host for host in found if host not in USUAL]


def _package(before: str, after: str) -> Iterator[str]:
    old, new = _json(before), _json(after)
    for key in OF_PACKAGES:
        was, now = (_table(each.get(key)) for each in (old, new))
        for name, source in now.items():
            if ELSEWHERE.match(source) and was.get(name) != source:
                yield f"{name} now comes from {source}"
    scripts = [_table(each.get("scripts")) for each in (old, new)]
    for name in INSTALLS:
        if name in scripts[1] and scripts[0].get(name) != scripts[1][name]:
            yield f"`{scripts[1][name][:60]}` runs whenever it is installed ({name})"
    for name in PREPARES:
        source = scripts[1].get(name, "")
        if source and scripts[0].get(name) != source and not USUAL_PREPARE.fullmatch(source):
            yield f"`{source[:60]}` runs whenever it is installed from its repository ({name})"


def _json(text: str) -> dict[str, object]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _table(value: object) -> dict[str, str]:
    return {name: text for name, text in value.items() if isinstance(text, str)} if isinstance(value, dict) else {}


def _hashes(name: str, text: str) -> Mapping[str, frozenset[str]]:
    """The hashes in a lock file, by package and version."""
    if name == "go.sum":
        return {f"{row[0]} {row[1]}": frozenset({row[2]}) for line in text.splitlines() if len(row := line.split()) == 3}
    if name.endswith(".json"):
        packages = _json(text).get("packages")
        rows = packages.items() if isinstance(packages, dict) else ()
        return {
            f"{path.rpartition('node_modules/')[2]} {row.get('version')}": frozenset(str(row["integrity"]).split())
            for path, row in rows
            if isinstance(row, dict) and "integrity" in row
        }
    found = dict[str, frozenset[str]]()
    for part in re.split(r"^\[\[package\]\]$", text, flags=re.MULTILINE)[1:]:
        named = re.search(r"^name = \"([^\"]+)\"\s+version = \"([^\"]+)\"", part, re.MULTILINE)
        if named and (hashes := re.findall(r"\b(?:hash|checksum) = \"([^\"]+)\"", part)):
            found[f"{named[1]} {named[2]}"] = frozenset(hashes)
    return found


def _kinds(hashes: frozenset[str]) -> set[str]:
    return {re.split(r"[-:]", each)[0] for each in hashes}
