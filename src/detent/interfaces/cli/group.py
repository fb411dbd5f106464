"""The click group of all commands, each imported when called."""

import importlib
import os
from collections.abc import Sequence

import click

from detent import __version__
from detent.errors import DetentError
from detent.interfaces.cli.ends import report_error, run_call
from detent.interfaces.cli.help_rows import COMMANDS, GROUPS, MEANT

NAMES = 13  # columns for the names in --help; a longer name gets its own line

WORDS = frozenset(("value", "text", "reason"))  # names of arguments that take a person's words
FILES = {"report": "morning_report"}  # command -> its module, where they differ


class Lazy(click.Group):
    """A group whose commands are imported when they are called; help needs none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"detent.interfaces.cli.{FILES.get(name, name.replace('-', '_'))}")
        command = module.command
        assert isinstance(command, click.Command)
        if f"detent {name}" not in (command.help or "") and not command.epilog:
            command.epilog = f"Example: {COMMANDS[name].example}"
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group, rows in GROUPS.items():
            with formatter.section(group):
                for name, row in rows.items():
                    head = f"  {name:<{NAMES}} " if len(name) <= NAMES else f"  {name}\n{'':<{NAMES + 3}}"
                    formatter.write(f"{head}{row.says}\n{'':<{NAMES + 3}}{row.example}\n")

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"] if args[1:2] else ["--help"]
            if args == ["--help"]:
                click.echo(ctx.get_help())
                ctx.exit()
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"there is no command '{args[0]}'" + _meant(args[0]), ctx)
        return super().resolve_command(ctx, args)


def _meant(word: str) -> str:
    """A "did you mean" for an unknown command; empty without a close match."""
    import difflib

    plain = word.lower().replace("_", "-")
    if plain == "version":
        return "; did you mean 'detent --version'?"
    near = next(iter(difflib.get_close_matches(plain, [*COMMANDS, *MEANT], 1, 0.66)), "")
    found = MEANT.get(plain) or MEANT.get(near, near)
    return f"; did you mean '{found}'?" if found else ""


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="detent %(version)s")
@click.option("-C", "folder", metavar="DIR", help="Work in DIR instead of the current folder.")
def detent(folder: str | None) -> None:
    """Detent holds a coding agent at every step until evidence releases it.

    Agents reason, Detent decides. `detent` alone says where this folder stands; `detent COMMAND --help` has every option.
    """
    if folder is not None:
        try:
            os.chdir(folder)
        except OSError as e:
            raise DetentError(f"cannot work in {folder}: {e.strerror}", "name a folder that exists") from e


def run(argv: Sequence[str]) -> int:
    """Run one command."""
    return run_call(argv, lambda: _called(argv))


def _called(argv: Sequence[str]) -> int:
    try:
        result = detent.main(list(argv), prog_name="detent", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as e:
        return e.exit_code
    except click.Abort:
        return 130
    except click.exceptions.NoArgsIsHelpError as e:
        click.echo(e.format_message(), err=True)
        return 2
    except click.UsageError as e:
        return report_error(argv, e.format_message(), _usage_hint(e), 2)


def _usage_hint(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx else "detent"
    row = COMMANDS.get(path.removeprefix("detent "))
    example = f"for example: {row.example}\n" if row and isinstance(error, click.MissingParameter) else ""
    return f"{_meant_choice(error)}{_quotes(error)}{example}see `{path} --help`"


def _quotes(error: click.UsageError) -> str:
    """That words with spaces need quotes, if a shell split the text that a command takes last."""
    taken = [each.name for each in error.ctx.command.params if isinstance(each, click.Argument)] if error.ctx else []
    return "put words with spaces in quotes\n" if "extra argument" in error.message and taken[-1:] and taken[-1] in WORDS else ""


def _meant_choice(error: click.UsageError) -> str:
    """The value that somebody may have meant, where an option takes one of a few."""
    import difflib

    kind = error.param.type if isinstance(error, click.BadParameter) and error.param else None
    if not isinstance(kind, click.Choice):
        return ""
    typed = error.message.partition("'")[2].partition("'")[0].lower()
    near = difflib.get_close_matches(typed, kind.choices, 1)
    return f"did you mean {near[0]}?\n" if near else ""
