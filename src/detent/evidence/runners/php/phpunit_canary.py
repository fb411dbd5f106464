"""The canary of a PHPUnit run: a test class beside the changed ones. Pure: writes nothing.

A full run has it in the same process. PHPUnit takes only one path, so each selected path is a call of its own, and so is the canary's.
"""

import re

from detent.evidence.runners.adapter import Canary, CanaryFile, Command, Files, is_below
from detent.evidence.runners.canary_files import NONE, places
from detent.evidence.runners.canary_output import phpunit as tidy

CONFIG = ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
STOPS = re.compile(r"\bstopOn(?:Failure|Defect)\s*=\s*[\"']true[\"']")
DATA = re.compile(r"[#@]")
DELIMITED = re.compile(r"([^\w\s\\])(.*)\1([a-zA-Z]*)", re.DOTALL)
TEXT = """<?php

#[\\PHPUnit\\Framework\\Attributes\\CoversNothing]
final class {stem}Test extends \\PHPUnit\\Framework\\TestCase
{{
    public function test{passes}(): void
    {{
        $wrong = [
            'assertSame' => function () {{ $this->assertSame('{says}', ''); }},
            'assertEquals' => function () {{ $this->assertEquals('{says}', ''); }},
            'assertTrue' => function () {{ $this->assertTrue(false); }},
            'assertNull' => function () {{ $this->assertNull('{says}'); }},
            'assertCount' => function () {{ $this->assertCount(1, []); }},
            'assertContains' => function () {{ $this->assertContains('{says}', []); }},
            'fail' => function () {{ $this->fail('{says}'); }},
        ];
        foreach ($wrong as $name => $each) {{
            $held = false;
            try {{
                $each();
            }} catch (\\PHPUnit\\Framework\\AssertionFailedError $e) {{
                $held = true;
            }}
            if (!$held) {{
                throw new \\RuntimeException('{says}: what is wrong was let pass by ' . $name);
            }}
        }}
        $this->assertTrue(true);
    }}

    public function test{fails}(): void
    {{
        $this->assertSame('{says}', '');
    }}
}}
"""


def canary(base: Command, selectors: tuple[str, ...], files: Files, near: tuple[str, ...]) -> Canary | str:
    """The canary of such a run, or why there is none."""
    if any(STOPS.search(files.read(name) or "") for name in CONFIG):
        return "the project stops at the first failure, so a test that must fail would end the run"
    chosen = [each for each in selectors if not each.startswith("-")]
    filters = [each for each in selectors if each.startswith("-")]
    if any(DATA.search(each) for each in filters):
        return "the command selects data sets, so Detent's own test would not run"
    scope = chosen or list(base.paths)

    def is_run(path: str) -> bool:
        return path.endswith("Test.php") and (not scope or any(is_below(path, each) for each in scope))

    canary_files = tuple(place.canary_file(lambda stem: f"{stem}Test.php", TEXT, str.capitalize) for place in places(files, near, is_run))
    if not canary_files:
        return NONE
    again = () if chosen else base.paths
    named = [f"--filter={_also_named(each.partition('=')[2], canary_files)}" for each in filters]
    alone = [canary_file.path for canary_file in canary_files if scope and not any(is_below(canary_file.path, each) for each in scope)]
    return Canary(base, (*chosen, *again, *alone, *named), canary_files, tidy)


def _also_named(pattern: str, canary_files: tuple[CanaryFile, ...]) -> str:
    ours = "|".join(each for canary_file in canary_files for each in (canary_file.passes, canary_file.fails))
    found = DELIMITED.fullmatch(pattern)
    return f"{found[1]}(?:{found[2]})|{ours}{found[1]}{found[3]}" if found else f"(?:{pattern})|{ours}"
