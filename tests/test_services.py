"""A worker as a service: units that systemd takes, a list that launchd takes, and the workers of the compose file, played with podman."""

import os
import plistlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from detent.config.settings import kinds, variable
from detent.interfaces.cli.work_unit import name_of, unit_of
from detent.queue.database import open_database
from detent.queue.engine import DurableQueue
from tests.driven import scripted
from tests.executions import CONFIG, WORKS, Till
from tests.patience import LONG
from tests.postgres import Server

ROOT = Path(__file__).parent.parent
TEMPLATES = ROOT / "templates"
ODD = 'till 100% $HOME "x" it\'s'
COMPOSE: dict[str, Any] = yaml.safe_load((TEMPLATES / "compose.yml").read_text())


@pytest.mark.needs("systemd")
@pytest.mark.parametrize("kind", ["systemd-user", "systemd"])
@pytest.mark.parametrize("name", ["till", ODD])
def test_systemd_takes_the_unit_and_starts_it_again_whatever_its_end(tmp_path: Path, kind: str, name: str) -> None:
    root = tmp_path / name
    root.mkdir()
    text = unit_of(kind, root, {"PATH": "/opt/agents/bin:/usr/bin:/bin", "ANTHROPIC_API_KEY": "sk-secret"}, 2)
    unit = tmp_path / f"{name_of(root)}.service"
    unit.write_text(text)
    words = ["systemd-analyze", *(["--user"] if kind == "systemd-user" else []), "verify", "--man=no", str(unit)]
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    ran = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    said = [line for line in (ran.stdout + ran.stderr).splitlines() if unit.name in line]
    assert (ran.returncode, said) == (0, []), ran
    assert "\nRestart=always\n" in text and "\nStartLimitIntervalSec=0\n" in text and "sk-secret" not in text
    assert "\nEnvironment=PATH=/opt/agents/bin:/usr/bin:/bin\n" in text
    assert ("\nUser=" in text) == (kind == "systemd") and f"/{unit.name}" in text


def test_words_stand_for_themselves_in_a_unit(tmp_path: Path) -> None:
    text = unit_of("systemd", tmp_path / ODD, {}, None)
    command = next(line for line in text.splitlines() if line.startswith("ExecStart="))
    assert command.endswith('100%% $$HOME \\"x\\" it\'s" work') and command.count(sys.executable) == 1
    assert f"WorkingDirectory={tmp_path}/{ODD.replace('%', '%%')}\n" in text


@pytest.mark.parametrize("name", ["till", "a & b <c> -- d"])
def test_launchd_takes_the_list_and_keeps_it_alive(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    found = plistlib.loads(unit_of("launchd", root, {"HOME": "/Users/ann", "PATH": "/opt/bin"}, 3).encode())
    assert found["ProgramArguments"] == [sys.executable, "-I", "-m", "detent", "-C", str(root), "work", "--slots", "3"]
    assert (found["KeepAlive"], found["RunAtLoad"], found["EnvironmentVariables"]) == (True, True, {"PATH": "/opt/bin"})
    assert found["StandardErrorPath"] == f"/Users/ann/Library/Logs/{found['Label']}.log" and found["WorkingDirectory"] == str(root)


def test_the_command_prints_the_unit_and_starts_nothing(tmp_path: Path) -> None:
    till = Till(tmp_path, remote=False)
    ran = till.project.run("work", "--service")
    assert ran.code == 0 and "systemctl --user enable --now detent-p" in ran.out and f"-C {till.project.root} work\n" in ran.out, ran
    assert not (till.project.root / ".git" / "detent" / "queue.db").exists()
    assert "<plist" in till.project.run("work", "--service", "launchd").out
    wrong = till.project.run("work", "--service", "upstart")
    assert wrong.code == 2 and "systemd-user" in wrong.err


# -- the compose file ------------------------------------------------------------------------------------------------------------


def test_the_compose_file_has_a_database_and_two_workers_that_wait_for_it() -> None:
    services = COMPOSE["services"]
    one, two = (dict(services[name]) for name in ("worker-1", "worker-2"))
    assert one.pop("volumes") != two.pop("volumes") and one == two
    assert one["depends_on"] == {"database": {"condition": "service_healthy"}} and "healthcheck" in services["database"]
    assert all(service["restart"] == "unless-stopped" for service in services.values())
    volumes = {volume.partition(":")[0] for service in services.values() for volume in service["volumes"]}
    assert volumes == set(COMPOSE["volumes"]) and set(one["secrets"]) == set(COMPOSE["secrets"])
    known = {variable(name) for name in kinds()}
    assert {name for name in one["environment"] if name.startswith("DETENT_")} <= known
    assert all(port.startswith("127.0.0.1:") for port in services["database"]["ports"])
    script = (TEMPLATES / "worker.sh").read_text()
    assert set(re.findall(r"WORKER_\w+", script)) - {"WORKER_KEY"} == {name for name in one["environment"] if name.startswith("WORKER_")}
    assert "COPY --chmod=755 worker.sh" in (TEMPLATES / one["build"]["dockerfile"]).read_text()


def filled(text: str, given: Mapping[str, str]) -> str:
    """A value of the compose file, as compose fills it in."""

    def value(found: re.Match[str]) -> str:
        name, sort, rest = found.groups()
        assert given.get(name) or sort != ":?", f"{name}: {rest}"
        return given.get(name) or (rest if sort == ":-" else "")

    return re.sub(r"\$\{(\w+)(:-|:\?)?([^}]*)\}", value, str(text))


class Played:
    """A worker of the compose file in a container: the machine's own system instead of an image, everything else as the file says."""

    def __init__(self, name: str, folder: Path, given: Mapping[str, str], database: str) -> None:
        service, self.name = COMPOSE["services"][name], f"detent-test-{os.getpid()}-{name}"
        home, root = folder / name, folder / f"{name}-root"
        home.mkdir()
        for each in ("usr", "etc", "tmp", "proc", "sys", "dev", "run", "home/detent", "var/tmp"):
            (root / each).mkdir(parents=True)
        for each in ("bin", "lib", "lib64", "sbin"):
            (root / each).symlink_to(f"usr/{each}")
        (volume,) = service["volumes"]
        readable = {Path("/usr"), Path("/etc"), ROOT, Path(sys.base_prefix).resolve()}
        mounts = [
            f"{home}:{volume.partition(':')[2]}",
            f"{folder}:{folder}",
            *(f"{path}:{path}:ro" for path in readable if path.parent == Path("/") or not path.is_relative_to("/usr")),
        ]
        mounts += [f"{folder / COMPOSE['secrets'][secret]['file']}:/run/secrets/{secret}:ro" for secret in service["secrets"]]
        env = {key: filled(value, given).replace("database:5432/detent", database) for key, value in service["environment"].items()}
        env |= {"HOME": "/home/detent", "PATH": f"{folder / 'bin'}:{ROOT / '.venv' / 'bin'}:/usr/bin:/bin"}
        words = ["podman", "run", "--rm", "--name", self.name, "--network=host", "--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096"]
        words += [f"--volume={mount}" for mount in mounts] + [f"--env={key}={value}" for key, value in env.items()]
        self.file = folder / f"{name}.log"
        with self.file.open("w") as log:
            self.process = subprocess.Popen(
                [*words, "--rootfs", str(root), "/bin/sh", str(TEMPLATES / "worker.sh")], stdout=log, stderr=log
            )

    def end(self) -> int:
        """As `compose stop` does it."""
        subprocess.run(["podman", "stop", "--time", "60", "--ignore", self.name], capture_output=True, check=False)
        return self.process.wait(LONG)


@pytest.mark.slow
@pytest.mark.needs("engine", "postgres")
def test_the_two_workers_of_the_compose_file_work_off_a_queue(tmp_path: Path, postgres_server: Server) -> None:
    """With podman and PostgreSQL: both come up from nothing but the file's variables, share the work, and leave nothing when they are stopped."""
    till, url = Till(tmp_path, f"{CONFIG}[sandbox]\nlevel = 'outer'\n"), postgres_server.database()
    till.project.env.pop("DETENT_SANDBOX_LEVEL", None)
    till.project.env["DETENT_QUEUE_URL"] = url
    program = tmp_path / "bin" / "detent"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT / "src"} exec {sys.executable} -m detent "$@"\n')
    program.chmod(0o755)
    items = [till.file(f"Item {n}") for n in range(4)]
    added = till.project.run("queue", "add", *items, "--agent", scripted(till.project, WORKS))
    assert added.code == 0, added
    key = Path(till.project.env["XDG_STATE_HOME"]) / "detent" / "journal-key"
    shutil.copy(key, tmp_path / "journal-key")
    given = {"DATABASE_PASSWORD": "any", "WORKER_REPOSITORY": str(till.remote), "WORKER_SLOTS": "1"}
    workers = [Played(name, tmp_path, given, url.partition("@")[2]) for name in ("worker-1", "worker-2")]
    try:
        seen: set[str] = set()
        until = time.monotonic() + 2 * LONG
        with closing(DurableQueue(open_database(url, tmp_path / "none"))) as queue:
            while any(e.state not in ("done", "failed", "blocked") for e in queue.all()) or len(seen) < 2:
                seen |= {worker.id for worker in queue.workers()}
                assert time.monotonic() < until and all(w.process.poll() is None for w in workers), [w.file.read_text() for w in workers]
                time.sleep(0.2)
            assert [e.state for e in queue.all()] == ["done"] * 4, [(e.reason, *(p.text for p in queue.logs(e.id))) for e in queue.all()]
    finally:
        ends = [worker.end() for worker in workers]
    assert ends == [143, 143], [w.file.read_text() for w in workers]
    with closing(DurableQueue(open_database(url, tmp_path / "none"))) as queue:
        assert list(queue.workers()) == [], "what is stopped gives back what it held"
    report = till.project.run("report", "--json").json
    assert report["counts"]["finished"] == 4 and {row["item"] for row in report["rows"]} == set(items)
