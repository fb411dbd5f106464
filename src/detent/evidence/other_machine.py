"""The first lines of a Python program that make it believe to run elsewhere: another process, user, host, home, folder, and at a terminal. Text only.

Where code answers a test by what only a judged run has (a small process number, an empty home, no terminal), it answers otherwise there.
"""

AWAY = """
def away():
    import gc, os, platform, socket, sys, tempfile
    sys.path[:] = [os.getcwd() if each == "" else each for each in sys.path]
    home, kernel = tempfile.mkdtemp(), os.uname()
    for name in (".bashrc", ".profile", ".gitconfig"):
        open(os.path.join(home, name), "w").close()
    os.environ.update(HOME=home, PWD=home, USER="web", LOGNAME="web", HOSTNAME="web-07", TERM="xterm-256color", SHELL="/bin/sh", SHLVL="2")
    os.chdir(home)
    os.getpid, os.getppid, os.getlogin = lambda: 48211, lambda: 48007, lambda: "web"
    os.isatty = lambda number: True
    socket.gethostname = socket.getfqdn = platform.node = lambda *given: "web-07"
    os.uname = lambda: os.uname_result((kernel[0], "web-07", *kernel[2:]))
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.isatty = lambda: True
    try:
        import resource
        resource.getrlimit = lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    except ImportError:
        pass
    gc.collect()
    gc.disable()
    sys.setrecursionlimit(5000)
try:
    away()
except Exception:
    pass
"""
