"""What to say where programs cannot be isolated: what the machine lacks, and what can be done. docs/sandbox.md has the same lines.

Most containers are started so that no program in them can create a namespace. Nothing then runs unisolated unless a person decides so.
"""

from collections.abc import Mapping
from pathlib import Path

from detent.sandbox.mounts import SECRET

# What bubblewrap prints, and what it means.
LACKS = {
    "No permissions to create new namespace": "the kernel lets no program make user namespaces here",
    "Creating new namespace failed": "the kernel allows no more user namespaces here",
    "setting up uid map": "a policy of the kernel (AppArmor, SELinux) takes the rights out of new user namespaces",
    "RTM_NEWADDR": "a policy of the kernel (AppArmor, SELinux) takes the rights out of new user namespaces",
    "Can't set hostname": "this container's filter of system calls refuses what a namespace needs",
    "mount proc": "this container hides parts of /proc, so no program in it can have a /proc of its own",
    "Failed to make / slave": "a policy of the kernel (AppArmor, SELinux) refuses to mount",
}
# How a container is started so that programs in it can create namespaces.
ALLOW = {
    "docker": "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined …",
    "podman": "podman run --security-opt seccomp=unconfined --security-opt unmask=ALL …",
    "devcontainer.json": (
        '"runArgs": ["--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined", "--security-opt", "systempaths=unconfined"]'
    ),
    "Kubernetes": (
        "hostUsers: false in the pod; seccompProfile: {type: Unconfined}, appArmorProfile: {type: Unconfined}, procMount: Unmasked in the "
        "securityContext of its container"
    ),
    "no container": "sysctl -w user.max_user_namespaces=15000 (Ubuntu 24.04: also kernel.apparmor_restrict_unprivileged_userns=0)",
}
OUTER = "programs have your rights in here, and reach what this container reaches: its files, its keys, its network"
SOCKETS = ("/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock")


def lack(fault: str) -> str:
    """What the machine lacks, from bubblewrap's error; the whole error if it is unknown."""
    return next((f"{means} ({message})" for message, means in LACKS.items() if message in fault), fault)


def ways_on() -> str:
    """The three options, one line each; the first has a line for each kind of container."""
    lines = [
        "1. Allow user namespaces, then try again:",
        *(f"   {who}: {line}" for who, line in ALLOW.items()),
        '2. [sandbox] level = "podman", where podman can run containers',
        f'3. [sandbox] level = "outer", if this container isolates enough: {OUTER}. A person commits it, or sets DETENT_SANDBOX_LEVEL=outer',
        "More: docs/sandbox.md, In a container",
    ]
    return "\n".join(lines)


def in_reach(outer: Mapping[str, str]) -> list[str]:
    """What in this container opens doors elsewhere and no program needs: keys in the home, sockets of container engines."""
    home = Path(outer.get("HOME") or Path.home())
    named = [f"~/{name}" for name in SECRET if (home / name).exists()]
    return [*named, *(path for path in SOCKETS if Path(path).exists())]
