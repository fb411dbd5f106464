"""`detent mcp`: serve the tools of an agent to MCP clients."""

import click


@click.command("mcp")
@click.option("--http", "over_http", is_flag=True, help="Serve HTTP on 127.0.0.1 instead; the address and the token are printed.")
@click.option("--port", type=click.IntRange(0, 65535), default=8766, show_default=True, help="The port for --http; 0 takes a free one.")
@click.option("--no-dialogs", is_flag=True, help="Never ask the user through a dialog of the client.")
def command(over_http: bool, port: int, no_dialogs: bool) -> int:
    """Serve get_task, submit_work, request_scope_reduction, escalate_for_external_help and check over MCP.

    For the checkout it is started in (or -C DIR names). Speaks on standard input and output, and ends when its client does.
    """
    if over_http:
        from detent.interfaces.mcp.http import serve as serve_http

        return serve_http(port, not no_dialogs)
    from detent.interfaces.mcp.stdio import serve

    return serve(not no_dialogs)
