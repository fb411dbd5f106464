"""The seccomp filter, as the BPF program that the kernel takes. Owns which calls are refused; knows nothing of mounts or processes.

A refused call fails with EPERM or ENOSYS, so that programs fall back or say what they lack. Refused are calls that expose more of the
kernel, calls around mounts, and creating set-user-id files, which would outlive the sandbox.
"""

import errno
import struct
from typing import NamedTuple

from detent.errors import DetentError

LD, JEQ, JGE, JSET, RET = 0x20, 0x15, 0x35, 0x45, 0x06  # opcodes of classic BPF
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000
NUMBER, ARCH = 0, 4  # offsets of the call's number and architecture
X32 = 0x40000000
LAST = 469  # the newest call that we reviewed; newer ones fail as on an older kernel
UNIX, INET, NETLINK, INET6 = 1, 2, 16, 10
CREATES = 0o100 | 0o20000000  # O_CREAT, O_TMPFILE
SET_USER, SET_GROUP = 0o4000, 0o2000
TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: typing into a terminal


class Machine(NamedTuple):
    """An architecture: its AUDIT_ARCH value, and its column in the tables below."""

    audit: int
    column: int


MACHINES = {"x86_64": Machine(0xC000003E, 0), "aarch64": Machine(0xC00000B7, 1)}
NONE = -1  # the architecture has no such call

# name: number on x86_64, number on aarch64, errno
REFUSED: dict[str, tuple[int, int, int]] = {
    "io_uring_setup":    (425, 425, errno.ENOSYS),
    "io_uring_enter":    (426, 426, errno.ENOSYS),
    "io_uring_register": (427, 427, errno.ENOSYS),
    "openat2":           (437, 437, errno.ENOSYS),  # its mode is in memory, which a filter cannot read
    "bpf":               (321, 280, errno.EPERM),
    "userfaultfd":       (323, 282, errno.EPERM),
    "perf_event_open":   (298, 241, errno.EPERM),
    "add_key":           (248, 217, errno.EPERM),
    "request_key":       (249, 218, errno.EPERM),
    "keyctl":            (250, 219, errno.EPERM),
    "mount":             (165, 40, errno.EPERM),
    "umount2":           (166, 39, errno.EPERM),
    "pivot_root":        (155, 41, errno.EPERM),
    "chroot":            (161, 51, errno.EPERM),
    "open_tree":         (428, 428, errno.EPERM),
    "move_mount":        (429, 429, errno.EPERM),
    "fsopen":            (430, 430, errno.EPERM),
    "fsconfig":          (431, 431, errno.EPERM),
    "fsmount":           (432, 432, errno.EPERM),
    "fspick":            (433, 433, errno.EPERM),
    "mount_setattr":     (442, 442, errno.EPERM),
    "open_tree_attr":    (467, 467, errno.EPERM),
    "open_by_handle_at": (304, 265, errno.EPERM),
    "setns":             (308, 268, errno.EPERM),
    "unshare":           (272, 97, errno.EPERM),
    "ptrace":            (101, 117, errno.EPERM),
    "process_vm_readv":  (310, 270, errno.EPERM),
    "process_vm_writev": (311, 271, errno.EPERM),
    "pidfd_getfd":       (438, 438, errno.EPERM),
    "kcmp":              (312, 272, errno.EPERM),
    "kexec_load":        (246, 104, errno.EPERM),
    "kexec_file_load":   (320, 294, errno.EPERM),
    "init_module":       (175, 105, errno.EPERM),
    "finit_module":      (313, 273, errno.EPERM),
    "delete_module":     (176, 106, errno.EPERM),
    "fanotify_init":     (300, 262, errno.EPERM),
    "swapon":            (167, 224, errno.EPERM),
    "swapoff":           (168, 225, errno.EPERM),
    "reboot":            (169, 142, errno.EPERM),
    "acct":              (163, 89, errno.EPERM),
    "quotactl":          (179, 60, errno.EPERM),
    "quotactl_fd":       (443, 443, errno.EPERM),
    "syslog":            (103, 116, errno.EPERM),
    "vhangup":           (153, 58, errno.EPERM),
    "settimeofday":      (164, 170, errno.EPERM),
    "clock_settime":     (227, 112, errno.EPERM),
    "iopl":              (172, NONE, errno.EPERM),
    "ioperm":            (173, NONE, errno.EPERM),
    "modify_ldt":        (154, NONE, errno.EPERM),
}  # fmt: skip

# name: number on x86_64, number on aarch64, index of the mode argument, index of the flags that decide about creation (NONE: always)
MODES: dict[str, tuple[int, int, int, int]] = {
    "chmod":     (90, NONE, 1, NONE),
    "fchmod":    (91, 52, 1, NONE),
    "fchmodat":  (268, 53, 2, NONE),
    "fchmodat2": (452, 452, 2, NONE),
    "creat":     (85, NONE, 1, NONE),
    "mknod":     (133, NONE, 1, NONE),
    "mknodat":   (259, 33, 2, NONE),
    "open":      (2, NONE, 2, 1),
    "openat":    (257, 56, 3, 2),
}  # fmt: skip

IOCTL, SOCKET = (16, 29), (41, 198)

Step = tuple[int, int, int, int]  # opcode, jump if true, jump if false, value


def build_filter(machine: str, network: bool, root: bool, names: bool = False) -> bytes:
    """The filter for an architecture. With network, named sockets are refused unless `names`, because they would be the host's."""
    if machine not in MACHINES:
        raise DetentError(
            f"bubblewrap is not used on {machine}: no filter of system calls is known for it",
            'set [sandbox] level = "outer" if this machine or container isolates enough, or "none"; see docs/sandbox.md',
        )
    audit, column = MACHINES[machine]
    families = (INET, INET6, NETLINK) if network and not names else (UNIX, INET, INET6, NETLINK)
    steps = [(LD, 0, 0, ARCH), (JEQ, 1, 0, audit), (RET, 0, 0, KILL), (LD, 0, 0, NUMBER)]
    steps += [(JGE, 0, 1, X32), (RET, 0, 0, KILL), (JGE, 0, 1, LAST + 1), _fail(errno.ENOSYS)]
    for *numbers, answer in REFUSED.values():
        steps += _on(numbers[column], [_fail(answer)])
    for *numbers, mode, flags in MODES.values():
        steps += _on(numbers[column], _no_special_mode(mode, flags, SET_USER | SET_GROUP if root else SET_USER))
    steps += _on(IOCTL[column], [(LD, 0, 0, _arg(1)), *(s for v in TERMINAL_INPUT for s in ((JEQ, 0, 1, v), _fail(errno.EPERM)))])
    known = [s for family in families for s in ((JEQ, 0, 1, family), (RET, 0, 0, ALLOW))]
    steps += _on(SOCKET[column], [(LD, 0, 0, _arg(0)), *known, _fail(errno.EAFNOSUPPORT)])
    return b"".join(struct.pack("<HBBI", *step) for step in [*steps, (RET, 0, 0, ALLOW)])


def _fail(answer: int) -> Step:
    return (RET, 0, 0, FAIL | answer)


def _arg(n: int) -> int:
    """The offset of an argument's lower half, which is all that the kernel reads of these arguments."""
    return 16 + 8 * n


def _on(number: int, then: list[Step]) -> list[Step]:
    """The steps `then` for one call, after which its number is loaded again."""
    return [] if number == NONE else [(JEQ, 0, len(then) + 1, number), *then, (LD, 0, 0, NUMBER)]


def _no_special_mode(mode: int, flags: int, special: int) -> list[Step]:
    check = [(LD, 0, 0, _arg(mode)), (JSET, 0, 1, special), _fail(errno.EPERM)]
    return check if flags == NONE else [(LD, 0, 0, _arg(flags)), (JSET, 0, len(check), CREATES), *check]
