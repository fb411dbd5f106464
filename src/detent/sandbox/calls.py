"""The seccomp filter as a container engine's JSON profile. Owns the list of allowed system calls.

Engines know calls by name and skip names that their library does not know yet, so every call not listed here is refused; a newer call fails
as on an older kernel. What the filter refuses, and with which error, is in seccomp.py.
"""

import errno
import json
from collections.abc import Iterator, Sequence
from itertools import product

from detent.errors import DetentError
from detent.sandbox.seccomp import CREATES, INET, INET6, MODES, NETLINK, REFUSED, SET_GROUP, SET_USER, TERMINAL_INPUT, UNIX

NAMES = """
    accept accept4 access adjtimex alarm arch_prctl bind brk cachestat capget capset chdir chown clock_adjtime clock_getres
    clock_gettime clock_nanosleep close close_range connect copy_file_range dup dup2 dup3 epoll_create epoll_create1 epoll_ctl
    epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64 fallocate
    fchdir fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat fstatfs fsync ftruncate futex
    futex_requeue futex_wait futex_waitv futex_wake futimesat get_mempolicy get_robust_list getcpu getcwd getdents getdents64 getegid
    geteuid getgid getgroups getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit
    getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr inotify_add_watch inotify_init inotify_init1
    inotify_rm_watch io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit ioprio_get ioprio_set kill landlock_add_rule
    landlock_create_ruleset landlock_restrict_self lchown lgetxattr link linkat listen listxattr llistxattr lremovexattr lseek
    lsetxattr lstat madvise mbind membarrier memfd_create memfd_secret migrate_pages mincore mkdir mkdirat mlock mlock2 mlockall mmap
    move_pages mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mremap mseal msgctl msgget msgrcv
    msgsnd msync munlock munlockall munmap name_to_handle_at nanosleep newfstatat pause personality pidfd_open pidfd_send_signal pipe
    pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll prctl pread64 preadv preadv2 prlimit64 process_madvise process_mrelease
    pselect6 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv recvfrom recvmmsg recvmsg remap_file_pages removexattr
    rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn
    rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr
    sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam sched_setscheduler
    sched_yield seccomp select semctl semget semop semtimedop sendfile sendmmsg sendmsg sendto set_mempolicy set_mempolicy_home_node
    set_robust_list set_tid_address setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid setresgid setresuid
    setreuid setrlimit setsid setsockopt setuid setxattr shmat shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 socketpair
    splice stat statfs statx symlink symlinkat sync sync_file_range sync_file_range2 syncfs sysinfo tee tgkill time timer_create
    timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill truncate
    umask uname unlink unlinkat utime utimensat utimes vfork vmsplice wait4 waitid write writev
"""
ALLOWED = NAMES.split()

ARCHITECTURES = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
NEW_NAMESPACES = 0x7E020080  # clone flags
FAMILIES = 64  # socket families that get a rule of their own
WORD = 0xFFFFFFFF  # the kernel looks at this many bits of these arguments

Rule = dict[str, object]


def profile(machine: str, root: bool) -> bytes:
    """The profile for an architecture, as JSON."""
    if machine not in ARCHITECTURES:
        raise DetentError(
            f"containers are not used on {machine}: no filter of system calls is known for it",
            'set [sandbox] level = "outer" if this machine or container isolates enough, or "none"; see docs/sandbox.md',
        )
    rules = [_allow(ALLOWED), *(_refuse([name], answer) for name, (*_, answer) in REFUSED.items())]
    for name, (*_, mode, flags) in MODES.items():
        rules += _modes(name, mode, flags, SET_USER | SET_GROUP if root else SET_USER)
    rules += [
        _allow(["clone"], _bits(0, NEW_NAMESPACES, 0)),
        *(_refuse(["clone"], errno.EPERM, _bits(0, bit, bit)) for bit in _each(NEW_NAMESPACES)),
    ]
    rules += [_allow(["ioctl"], _bits(1, mask, value)) for mask, value in _other_than(TERMINAL_INPUT)]
    rules += [_refuse(["ioctl"], errno.EPERM, _bits(1, WORD, value)) for value in TERMINAL_INPUT]
    rules += list(_sockets())
    whole = {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": errno.ENOSYS,
        "architectures": [ARCHITECTURES[machine]],
        "syscalls": rules,
    }
    return json.dumps(whole).encode()


def _allow(names: Sequence[str], *args: Rule) -> Rule:
    return {"names": list(names), "action": "SCMP_ACT_ALLOW", "args": list(args)}


def _refuse(names: Sequence[str], answer: int, *args: Rule) -> Rule:
    return {"names": list(names), "action": "SCMP_ACT_ERRNO", "errnoRet": answer, "args": list(args)}


def _bits(index: int, mask: int, value: int) -> Rule:
    return {"index": index, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}


def _each(mask: int) -> Iterator[int]:
    return (1 << n for n in range(32) if mask >> n & 1)


def _modes(name: str, mode: int, flags: int, special: int) -> Iterator[Rule]:
    """Allow creating files and changing modes, but never with set-user-id or set-group-id bits."""
    yield _allow([name], _bits(mode, special, 0))
    if flags < 0:
        yield from (_refuse([name], errno.EPERM, _bits(mode, bit, bit)) for bit in _each(special))
        return
    yield _allow([name], _bits(flags, CREATES, 0))
    for making, bit in product(_each(CREATES), _each(special)):
        yield _refuse([name], errno.EPERM, _bits(flags, making, making), _bits(mode, bit, bit))


def _other_than(values: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(mask, value) pairs that together match every word but these: a bit they share differs, or their other bits match none of them."""
    differ = 0
    for value in values:
        differ |= value ^ values[0]
    yield from ((bit, bit & ~values[0]) for bit in _each(WORD & ~differ))
    bits = list(_each(differ))
    patterns = (sum(chosen) for chosen in product(*((0, bit) for bit in bits)))
    yield from ((differ, pattern) for pattern in patterns if pattern not in {value & differ for value in values})


def _sockets() -> Iterator[Rule]:
    known = (UNIX, INET, INET6, NETLINK)
    for family in range(FAMILIES):
        rule: Rule = {"index": 0, "value": family, "op": "SCMP_CMP_EQ"}
        yield _allow(["socket"], rule) if family in known else _refuse(["socket"], errno.EAFNOSUPPORT, rule)
    yield _refuse(["socket"], errno.EAFNOSUPPORT, {"index": 0, "value": FAMILIES, "op": "SCMP_CMP_GE"})
