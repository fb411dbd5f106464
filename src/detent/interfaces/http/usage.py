"""Usage and budgets as API shapes."""

from collections.abc import Iterable

from detent.app.tally import BudgetUse
from detent.drive.spent import Spent
from detent.interfaces.http.shapes import Limit, TokenUse


def usage_of(spent: Spent) -> TokenUse:
    use = spent.usage
    return TokenUse(
        input_tokens=use.input_tokens + use.written_tokens,
        output_tokens=use.output_tokens,
        cached_tokens=use.cached_tokens,
        usd=round(use.usd, 6),
        seconds=round(spent.seconds, 1),
        turns=spent.turns,
    )


def limits_of(budgets: Iterable[BudgetUse]) -> tuple[Limit, ...]:
    return tuple(Limit(name=each.name, used=each.used, most=each.most) for each in budgets)
