"""A worker as a service: the text of a systemd unit (user or system) or of a launchd property list. Installs nothing."""

import getpass
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

PATH = "/usr/local/bin:/usr/bin:/bin"
KEPT = ("PATH", "XDG_STATE_HOME", "LANG")  # variables copied from this shell; others belong into the service's environment file

SYSTEMD = """\
# A worker of Detent's queue, for {root}
{install}
# Keys, tokens and DETENT_QUEUE_URL go into {file} (mode 0600), a line each: NAME=value

[Unit]
Description=Detent worker for {folder}
{wants}StartLimitIntervalSec=0

[Service]
Type=exec
{user}WorkingDirectory={folder}
ExecStart={command}
EnvironmentFile=-{variables}
{environment}
# It ends by itself when its database was away for too long (75), and is started again. After a stop it gives back what ran here.
Restart=always
RestartSec=10
SuccessExitStatus=143
KillMode=mixed
TimeoutStopSec=90

[Install]
WantedBy={target}
"""
INSTALL = {
    "systemd-user": "# Save it:  detent work --service systemd-user > ~/.config/systemd/user/{name}.service\n"
    "# Start it: systemctl --user daemon-reload && systemctl --user enable --now {name}\n"
    "# Let it run while you are logged out: loginctl enable-linger\n"
    "# Read it:  journalctl --user -u {name} -f",
    "systemd": "# Save it:  detent work --service systemd | sudo tee /etc/systemd/system/{name}.service\n"
    "# Start it: sudo systemctl daemon-reload && sudo systemctl enable --now {name}\n"
    "# Read it:  journalctl -u {name} -f",
}
LAUNCHD = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- A worker of Detent's queue, for {shown}
Save it:  as ~/Library/LaunchAgents/{label}.plist
Start it: launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/{label}.plist
Stop it:  launchctl bootout gui/$(id -u)/{label}
-->
<plist version="1.0">
<dict>
  <key>Label</key><string>{label}</string>
  <key>ProgramArguments</key>
  <array>
{arguments}
  </array>
  <key>WorkingDirectory</key><string>{root}</string>
  <key>EnvironmentVariables</key>
  <dict>
{variables}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><true/>
  <key>ThrottleInterval</key><integer>10</integer>
  <key>ExitTimeOut</key><integer>90</integer>
  <key>StandardOutPath</key><string>{log}</string>
  <key>StandardErrorPath</key><string>{log}</string>
</dict>
</plist>
"""


def unit_of(kind: str, root: Path, env: Mapping[str, str], slots: int | None) -> str:
    """The text of a unit. `auto`: the kind for a user's own services on this machine."""
    if kind == "auto":
        kind = "launchd" if sys.platform == "darwin" else "systemd-user"
    words = [sys.executable, "-I", "-m", "detent", "-C", str(root), "work", *(["--slots", str(slots)] if slots else [])]
    kept = {"PATH": PATH, **{name: env[name] for name in KEPT if env.get(name)}}
    return _launchd(root, words, kept, env) if kind == "launchd" else _systemd(kind, root, words, kept)


def name_of(root: Path) -> str:
    """The name of the service of a repository."""
    return f"detent-{re.sub(r'[^A-Za-z0-9_.]+', '-', root.name).strip('-.') or 'work'}"


def _systemd(kind: str, root: Path, words: list[str], env: Mapping[str, str]) -> str:
    name, own = name_of(root), kind == "systemd-user"
    return SYSTEMD.format(
        root=_one_line(str(root)),
        install=INSTALL[kind].format(name=name),
        variables="%h/.config/detent/env" if own else "/etc/detent/env",
        file="~/.config/detent/env" if own else "/etc/detent/env",
        wants="" if own else "Wants=network-online.target\nAfter=network-online.target\n",
        user="" if own else f"User={getpass.getuser()}\n",
        folder=_one_line(str(root)).replace("%", "%%"),
        command=" ".join(_quoted(word) for word in words),
        environment="\n".join(f"Environment={_quoted(f'{key}={value}', dollar='$')}" for key, value in env.items()),
        target="default.target" if own else "multi-user.target",
    )


def _quoted(word: str, dollar: str = "$$") -> str:
    """A word escaped for systemd: specifiers, quotes and, in a command line, variables."""
    text = _one_line(word).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", dollar)
    return f'"{text}"' if re.search(r"[\s\"'\\;]", text) else text


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _launchd(root: Path, words: list[str], env: Mapping[str, str], outer: Mapping[str, str]) -> str:
    label = f"dev.detent.{name_of(root).removeprefix('detent-')}"
    home = outer.get("HOME") or os.path.expanduser("~")
    return LAUNCHD.format(
        label=escape(label),
        root=escape(str(root)),
        shown=escape(_one_line(str(root))).replace("--", "- -"),  # "--" would end the comment
        arguments="\n".join(f"    <string>{escape(word)}</string>" for word in words),
        variables="\n".join(f"    <key>{escape(key)}</key><string>{escape(value)}</string>" for key, value in env.items()),
        log=escape(f"{home}/Library/Logs/{label}.log"),
    )
