"""`detent serve`: the web page and its API."""

import click


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="The port; 0 takes a free one.")
@click.option("--no-open", is_flag=True, help="Do not open the browser; the link is printed anyway.")
@click.option(
    "--open-to-network", is_flag=True, help="Allow a --host that others can reach. Whoever has the token can then act in your name."
)
def command(host: str, port: int, no_open: bool, open_to_network: bool) -> int:
    """Serve the web page and the HTTP API for the runs of this repository, and open the page.

    It listens on loopback, for whoever has the token, which is made once and kept in your state folder. The printed link gives it to the page, once.
    """
    from detent.app.people import must_be_a_persons_shell
    from detent.interfaces.http.page_server import serve

    must_be_a_persons_shell("terminal")  # whoever starts it gets the token, and with it the right to answer
    return serve(host, port, open_to_network, not no_open)
