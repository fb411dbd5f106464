"""`detent hook`: called by clients before their agent runs a command or writes a file, and when it wants to stop."""

import click

from detent.interfaces.hooks.hook_clients import CLIENTS


@click.command("hook")
@click.argument("client", metavar="CLIENT", type=click.Choice(list(CLIENTS)))
def command(client: str) -> int:
    """Answer one event of CLIENT, read as JSON on standard input, by where the run of this checkout stands.

    Clients call it; `detent init --client NAME` registers it with them. Where there is no run it says nothing, which allows.
    """
    from detent.interfaces.hooks.quick import answer

    return answer(client)
