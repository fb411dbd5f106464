"""Code in languages other than Python that checks who is calling, recognised by names outside comments. Pure.

Strings joined from pieces are read as one. A name inside a longer string, such as a message, counts only if it is too specific to be there by
chance.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

from detent.evidence.static_analysis.hidden_words import hidden_words
from detent.evidence.static_analysis.knows_machine import machine_hits

NAME_OF = "the name of the test runner"  # as a string, which does not show what it is for
STRINGS = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
C_COMMENTS = r"//(?!go:|\s*\+build\b)[^\n]*|/\*.*?\*/"  # Go's directives are comments
SPLIT = re.compile(r"""(["'`])(?:[ \t]*\n)?[ \t]*\+[ \t]*(?:\n[ \t]*)?\1""")  # "py" + "test"
COMMENTS: Mapping[str, re.Pattern[str]] = {
    "c": re.compile(rf"(?P<keep>{STRINGS}|`(?:[^`\\]|\\.)*`)|{C_COMMENTS}", re.DOTALL),
    "one": re.compile(
        rf"(?P<keep>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\[^\n]{{1,8}})'|`[^`]*`)|{C_COMMENTS}", re.DOTALL
    ),  # a lone quote may begin a lifetime
    "hash": re.compile(rf"(?P<keep>{STRINGS})|\#(?!\{{)[^\n]*|^=begin.*?^=end|{C_COMMENTS}(?<=\*/)", re.DOTALL | re.MULTILINE),
}
AROUND: Mapping[str, re.Pattern[str]] = {
    "c": re.compile(
        r"(?P<of>\b(?:process|globalThis|global|window|module|performance|Error|os))(?:\?\.)?\[([\"'`])(?P<name>[A-Za-z_]\w*)\2\]"
    ),
    "hash": re.compile(r"(?P<of>\b[A-Z]\w*(?:\.current)?)\.(?:public_send|__send__|send)[( ]\s*:(?P<name>[a-z_]\w*[?!]?)\)?"),
}  # a member that is asked for by its name as a text
CI = (
    "CI|CONTINUOUS_INTEGRATION|GITHUB_(?:ACTIONS?|RUN_(?:ID|NUMBER)|WORKFLOW|JOB|WORKSPACE|EVENT_NAME|ACTOR)|GITLAB_CI|CI_(?:JOB|PIPELINE)_ID|TRAVIS|CIRCLECI"
    "|BUILDKITE|TF_BUILD|JENKINS_URL|TEAMCITY_VERSION|APPVEYOR|DRONE|BITBUCKET_BUILD_NUMBER|CODEBUILD_BUILD_ID|RUNNER_OS"
)  # environments in which only tests run
GLOBALS = "describe|it|test|expect|jest|vi|vitest|mocha|suite|beforeEach|afterEach|__coverage__"
OF_PROCESS = (
    "execArgv|ppid|argv0|mainModule|moduleLoadList|channel|connected|_events|listenerCount|eventNames"  # properties with traces of a runner
)
FAKE = r"(?:[fF]ake|[mM]ock|[sS]tub|[dD]ummy|[sS]py)"  # names of test doubles
GIVEN = "whether it was given a stand-in"
Rows = tuple[tuple[str, str], ...]  # what is checked, and a pattern for it

JAVASCRIPT: Rows = (
    ("the environment of tests", r"\b(?:VITEST(?:_\w+)?|JEST_WORKER_ID|NODE_TEST_CONTEXT|NODE_V8_COVERAGE|MOCHA_\w+|PLAYWRIGHT_\w+|__vitest_\w+|__jest_\w+)\b"),
    ("the environment of tests", r"\bNODE_ENV\b[\"'`\])]*\s*[!=]==?\s*[\"'`]test|[\"'`]test[\"'`]\s*[!=]==?\s*[\w.]*\bNODE_ENV\b"),
    ("the environment of tests", r"\bimport\.meta\.(?:env\.(?:TEST|VITEST)|env\.MODE\s*[!=]==?\s*[\"'`]test|vitest)\b|\bnpm_(?:lifecycle_(?:event|script)|command)\b"),
    ("the environment of tests", rf"\{{[^{{}}\n]*\b(?:{CI})\b[^{{}}\n]*\}}\s*=\s*process\.env\b"),
    ("the test runner", r"\b__(?:vite|vitest|vi|jest|cov)_\w+\b|\bimport\.meta\.env\s*(?:\?(?!\.)|&&)|!\s*import\.meta\.env\s*[;)?&|]"),
    ("source files", r"\bl?stat(?:Sync)?\(\s*(?:new URL\(|join\(|resolve\(|path\.\w+\()?[^\n;]{0,60}(?:import\.meta|__dirname|__filename|package\.json)"),
    ("the environment of tests", r"[\"'`]test(?:ing)?[\"'`][^\n;()]{0,40}\]\s*\.(?:includes|indexOf|some)\([^)\n]*\bNODE_ENV\b"),
    ("the environment of tests", r"\bnavigator\.webdriver\b|\b(?i:jsdom|happy-?dom)\b[\"'`/)]|\bswitch\s*\([^)\n]*\bNODE_ENV\b[^)\n]*\)\s*\{[^}]{0,200}?\bcase\s+[\"'`]test"),
    ("the environment of tests", rf"[\"'`](?:{CI})[\"'`]\s+in\s+process\.env\b|\bprocess\.env(?:\?\.|\.|\[[\"'`])(?:{CI})\b"),
    ("the environment of tests", r"\b(?:Object\.(?:keys|entries|values|getOwnPropertyNames)|Reflect\.ownKeys)\(\s*process\.env\b|\b(?:in|of)\s+process\.env\s*\)"),
    ("the environment of tests", r"\bprocess\.env\[(?!\w*\]|[\"'`])[^\n;]{0,60}\b(?:join|fromCharCode|atob|reverse|toString|replace)\("),
    ("the test runner", rf"[\"'`](?:{GLOBALS})[\"'`]\s+in\s+(?:globalThis|global|window|self)\b"),
    ("the test runner", rf"\b(?:Reflect\.(?:has|get)|Object\.(?:hasOwn|getOwnPropertyDescriptor))\(\s*(?:globalThis|global|window|self)\s*,\s*[\"'`](?:{GLOBALS})\b"),
    ("the test runner", r"\b(?:Reflect\.ownKeys|Object\.(?:keys|getOwnPropertyNames))\(\s*(?:globalThis|global)\b"),
    ("the test runner", r"/[^/\n]*\b(?:vitest|jest|mocha|jasmine)\b[^/\n]*/[a-z]*\s*\.(?:test|exec)\("),
    ("the test runner", r"\bprocess\.(?:send|connected)\b(?!\s*=[^=])|\b(?:isMainThread|threadId)\b"),
    ("the test runner", r"\btypeof\s+(?:globalThis\.|global\.|window\.)?(?:describe|it|test|expect|jest|vi|vitest|beforeEach|afterEach|suite|mocha)\b"),
    ("the test runner", r"\b(?:globalThis|global|window|self)(?:\.|\[[\"'`])(?:describe|expect|jest|vi|vitest|mocha|beforeEach|afterEach|__vitest\w*|__coverage__|it)\b"),
    ("the test runner", r"\bSymbol\.for\(\s*[\"'`][^\"'`\n]*(?:vitest|jest|mocha|jasmine)|[\"'`](?:vitest|jest|mocha|jasmine)[/:][\w./:-]+[\"'`]"),
    ("the test runner", (r"\bBun\.jest\b|\bmodule\b[^\n;]{0,12}\.children\b|\b_isMockFunction\b|\b(?:setTimeout|Date|fetch)\.(?:toString\(|clock\b|mock\b|isFake\b)"
     r"|\binspector\.url\(")),
    ("the test runner", r"[\"'`](?:vitest|jest|mocha|chai|node:test|@jest/[\w-]+|@vitest/[\w-]+|ava|tap|jasmine)(?:/[\w/-]+)?[\"'`]"),
    ("the test runner", r"\bexpect\.(?:extend|getState|addEqualityTesters)\b|\bprocess\.(?:reallyExit|abort)\b|\bprocess\.kill\(\s*process\.pid\b"),
    ("the test runner", r"\bprocess\.(?:listenerCount|listeners|rawListeners|eventNames|_getActive\w+|getActiveResourcesInfo|channel)\b"),
    ("the test runner", r"\bperformance\.nodeTiming\b|\bperformance\.timeOrigin\b[^\n;]*[<>]|\bprocess\._events\b|\beventLoopUtilization\(\)[^\n;]*[<>]"),
    ("the test runner", rf"\{{[^{{}}\n]*\b(?:{OF_PROCESS})\b[^{{}}\n]*\}}\s*=\s*(?:globalThis\.)?process\b(?!\.)"),
    ("the test runner", r"\bprocess\.(?:moduleLoadList|binding\()|\b(?:execution|trigger)AsyncId\(\)\s*[<>=!]"),
    ("the machine it runs on", r"\bprocess\.pid\s*[<>%]|\b(?:hostname|cwd)\(\)\s*(?:[!=]==?\s*[\"'`]|\.(?:includes|startsWith|endsWith|match|indexOf)\(\s*[\"'`/])"),
    ("the machine it runs on", r"\.(?:startsWith|includes|indexOf)\(\s*(?:(?:os\.)?tmpdir\(\)|[\"'`]/(?:tmp|var/folders)\b)|\brelative\(\s*(?:os\.)?tmpdir\(\)"),
    (GIVEN, (rf"\b(?:constructor\??)?\.name\b[^\n;&|]{{0,30}}[\"'`/]\^?{FAKE}|/\^?{FAKE}[^/\n]*/\w*\.test\([^)\n]*\.name\b"
     r"|[\"'`](?:mock|mockClear|getMockName|isSinonProxy|calledOnce)[\"'`]\s+in\s+\w|\.(?:getMockName|isSinonProxy|mock\??\.call(?:s|Count))\b")),
    ("the stack", r"\bError\((?:[^()]|\([^()]*\))*\)\s*(?:\)\s*)?\??(?:\.stack\b|\.?\[[\"'`]stack)"),
    ("the stack", r"\bstack\b[\"'`\])]*\??\.(?:split|includes|match|matchAll|indexOf|search)\b"),
    ("the stack", (r"\bError\.stackTraceLimit\s*(?:[<>]|[!=]==?)\s*\d|\bError\.prepareStackTrace\b|\bcaptureStackTrace\((?!\s*this\b)|\bgetCallSites?\b"
     r"|\barguments\.callee\b|(?<![.\w])\w+\.caller\b(?!\s*[=(:])|\bnew\s+Function\([^)]*stack")),
    ("the stack", r"\{[^{}\n]*\bstack\b[^{}\n]*\}\s*=\s*(?:new\s+)?\w*Error\(|\.(?:test|exec)\(\s*[\w.]*\bstack\b"),
    ("where it is installed", r"\b(?:__dirname|__filename|import\.meta\.(?:url|dirname|filename))\b[^\n;]{0,60}\bnode_modules\b"),
    ("where it is installed", r"\bnode_modules\b[^\n;]{0,40}\b(?:__dirname|__filename|import\.meta)\b"),
    ("source files", r"\b(?:exists|stat|lstat|access|readdir|opendir)(?:Sync)?\([^\n;]{0,80}[\"'`/](?:tests?|specs?|__tests__)(?:\.[cm]?[jt]sx?)?[\"'`]"),
    ("source files", r"\bread(?:File)?(?:Sync)?\(\s*(?:new URL\(\s*)?(?:__filename|import\.meta\.(?:url|filename)|fileURLToPath\(\s*import\.meta\.url)"),
    ("source files", r"[\"'`/][\w./*-]*\.(?:test|spec)\.[cm]?[jt]sx?\b|[\"'`](?:\.{0,2}/)*(?:[\w-]+/)*(?:__tests__|tests?|specs?)/"),
    ("the program that was started", r"\bmodule\.parent\b|\brequire\.cache\b|\brequire\.main\b(?!\s*[!=]==?\s*module)|\bprocess\.mainModule\b|\bDeno\.mainModule\b"),
    ("the program that was started", r"^(?![^\n]*(?:import\.meta|__filename|pathToFileURL))[^\n]*?\bprocess\.argv\[\s*[01]\s*\]|\bprocess\.(?:argv0|execArgv|title)\b(?!\s*=[^=])"),
    ("the program that was started", r"/proc/(?:self|\$)|\bprocess\.ppid\b"),
    ("the program that was started", r"\bprocess\.argv\b[^\n;]*[\"'`/][^\"'`\n]*(?:test|jest|mocha|spec)"),
    ("the clock", r"\bDate\.now\(\)\s*[<>]=?\s*(?:\d[\d_]{8,}|Date\.(?:parse|UTC)\(|\+?new Date\([\"'`\d])"),
    ("the clock", r"(?:\d[\d_]{8,}|Date\.(?:parse|UTC)\([^)\n]*\))\s*[<>]=?\s*Date\.now\("),
    ("the clock", r"\bnew Date\(\)(?:\.(?:getTime|valueOf)\(\))?\s*[<>]=?\s*(?:\+?new Date\([\"'`\d]|\d[\d_]{8,}|Date\.(?:parse|UTC)\()"),
    ("the clock", r"\+?new Date\([\"'`\d][^)\n]*\)\s*[<>]=?\s*(?:\+?new Date\(\)|Date\.now\()"),
    ("the clock", r"\bnew Date\(\)\.get(?:UTC)?FullYear\(\)\s*[<>=!]=*\s*\d|\bprocess\.(?:uptime|hrtime)\([^)]*\)\s*[<>]=?\s*\d|\bperformance\.now\(\)\s*[<>]=?\s*\d"),
)  # fmt: skip
GO: Rows = (
    ("the stack", r"\bruntime\.(?:Callers?|CallersFrames|Stack|FuncForPC)\b|\bdebug\.(?:Stack|PrintStack)\b|\bpprof\.Lookup\("),
    ("the test runner", r"\btesting\.(?:Testing|Short|Verbose|CoverMode|Coverage|Main\w*)\("),
    ("the test runner", r"^\s*(?:import\s+)?(?:\w+\s+)?\"testing(?:/\w+)?\"|\bflag\.(?:Lookup|CommandLine\.Lookup)\(\s*\"test\."),
    ("the test runner", r"\"-?-?test\.\w*|\"(?:gotestsum|testlogfile|paniconexit0|tRunner)\"|\bPkgPath\(\)|\bexpvar\.Get\(\s*\"cmdline"),
    ("the environment of tests", r"^//(?:go:build|\s*\+build)\b[^\n]*\b(?:tests?|testing|unittest|race|msan|asan|cover|ci|prod|production|release|debug|dev)\b"),
    ("the environment of tests", r"\brange\s+os\.Environ\(\)|\b(?:Contains|ContainsFunc|Index|IndexFunc)\(\s*os\.Environ\(\)"),
    ("the test runner", r"\bruntime\.(?:NumGoroutine|NumCgoCall)\(|\bruntime\.MemProfileRate\s*[=!<>]=|\bdebug\.ReadGCStats\(|\.NumGC\s*[<>=!]|^//go:linkname\b"),
    ("the environment of tests", rf"\b(?:Getenv|LookupEnv)\(\s*\"(?:{CI})\""),
    ("the machine it runs on", r"\bos\.Getpid\(\)\s*[<>%]"),
    ("the machine it runs on", r"\b(?:HasPrefix|Contains)\([^\n]*(?:\bos\.TempDir\(\)|[\"`]/tmp\b)|\bfilepath\.Rel\(\s*os\.TempDir\(\)"),
    (GIVEN, rf"%T\"[^\n]*\"[^\"\n]*{FAKE}|\bTypeOf\([^)\n]*\)(?:\.Elem\(\))?\.(?:Name|String)\(\)[^\n;]{{0,30}}\"[^\"\n]*{FAKE}"),
    ("source files", (r"\b(?:os\.(?:Stat|Lstat|Open|ReadFile|ReadDir)|filepath\.Glob|ioutil\.Read\w+|fs\.\w+)\((?:\s*|[^\n]*[(, ])"
     r"[\"`](?:[^\"`\n]*\.go|[^\"`\n]*\bgo\.(?:mod|sum)|\.)[\"`]")),
    ("source files", r"\b(?:os\.(?:Stat|Lstat|Open|ReadFile|ReadDir)|filepath\.(?:Glob|Join))\([^\n)]*[\"`][./]*testdata\b"),
    ("the test runner", r"\bflag\.(?:Visit|VisitAll|Parsed)\([^\n]*test|\bflag\.CommandLine\.Name\(\)"),
    (GIVEN, r"\.\(\s*interface\s*\{[^}\n]*\b(?:Fatalf?|Helper|Errorf|FailNow|TempDir|Cleanup)\(|\"\*?testing\.[TBMF]\b"),
    ("the program that was started", r"\bos\.Args\[0\]|\bos\.Executable\(|\"[^\"\n]*\.test(?:\.exe)?\"|\bos\.Getppid\(|/proc/(?:self|%|\")|\bdebug\.ReadBuildInfo\("),
    ("the environment of tests", (r"\bGetenv\(\s*\"(?:GO_TEST\w*|GOCOVERDIR|GOTEST\w*|TEST\w*|DETENT_\w*)\""
     r"|\bLookupEnv\(\s*\"(?:GO_TEST\w*|GOCOVERDIR|GOTEST\w*|TEST\w*|DETENT_\w*)\"")),
    ("source files", r"[\"`][^\"`\n]*_test\.go|[\"`]\*\.go[\"`]|^//go:embed\s+[^\n]*\.go\b"),
    ("the clock", r"\btime\.Now\(\)(?:\.UTC\(\))?\.(?:After|Before|Compare|Equal)\(\s*time\.(?:Date|Unix\w*)\("),
    ("the clock", r"\btime\.Date\([^\n]*\)\.(?:After|Before|Compare)\(\s*time\.Now\("),
    ("the clock", r"\btime\.Now\(\)(?:\.UTC\(\))?\.(?:Unix\w*\(\)\s*[<>]=?\s*\d{9,}|Year\(\)\s*[<>=!]=*\s*\d)|\d{9,}\s*[<>]=?\s*time\.Now\("),
)  # fmt: skip
RUBY: Rows = (
    ("the stack", r"(?<![\w.:@\"'])caller(?:_locations)?\b(?!\s*(?:=[^=~]|\w|:))|\bKernel\.caller\w*"),
    ("the stack", r"\bThread\.current\.backtrace\w*|\bbinding\.(?:of_caller|callers)\b|\bset_backtrace\b|\bThread\.(?:main|list)\b[^\n]*\bbacktrace"),
    ("the stack", r"\.backtrace(?:_locations)?&?\.(?:any\?|none\?|grep|find|detect|include\?|count|size|length)"),
    ("the test runner", r"\b(?:RSpec|Minitest|MiniTest|Test::Unit|Cucumber|SimpleCov)\b|\bCoverage\.\w|\bTracePoint\b|\bset_trace_func\b|\bat_exit\b|\bexit!"),
    ("the test runner", r"\b(?:Object|Module|Kernel)\.constants\b|(?<![\w.])global_variables\b|\bGem\.loaded_specs\b"),
    ("the test runner", r"\bObjectSpace\b|(?<!\w)\$(?:LOADED_FEATURES|\")|\bThread\.list\.(?:size|count|length)\b|\$std(?:out|err)\.(?:respond_to\?|is_a\?|instance_of\?|class\b)"),
    ("the test runner", (r"\binstance_methods?(?:\([^)\n]*\))?\.include\?\(\s*:(?:should|describe|expect|it|must_\w+)\b"
     r"|\bconst_(?:defined\?|get)\([^)\n]*\.(?:join|reverse|pack|tr|gsub|map)\b")),
    ("the test runner", (r"(?:\$LOAD_PATH|\$:)\.(?:any|grep|find|include|select|detect|count|size)|\bTOPLEVEL_BINDING\b|\b(?:respond_to|(?:private_)?method_defined"
     r"|(?:private_)?methods?\.include)\?\(\s*:(?:describe|expect|it|context|assert\w*|should(?:_not)?)\b")),
    ("the test runner", (r"\bThread\.current\.(?:keys|thread_variables)\b"
     r"|\.(?:ancestors|(?:instance_|private_|singleton_|public_)?methods)(?:\([^)\n]*\))?\.(?:size|count|length)\b")),
    ("the test runner", r"[\"'](?:rspec|minitest|test-unit|cucumber|simplecov|spec_helper|test_helper)(?:[/-]\w+)*[\"']|\bBundler\.(?:definition|locked_gems|rubygems|load)\b"),
    ("where it is installed", r"\b(?:__dir__|__FILE__)\b[^\n;]{0,20}(?:\.(?:include|match|start_with|end_with)\?|=~)"),
    ("the environment of tests", rf"\bENV(?:\[|\.(?:fetch|key\?|has_key\?|include\?|member\?|dig)[( ])\s*[\"'](?:{CI})[\"']"),
    ("the environment of tests", r"\bENV\.(?:keys|each\w*|any\?|find|select|detect|filter\w*|to_h|grep|count|size)(?!\w|\s*=)"),
    ("the environment of tests", (r"\b(?:RAILS|RACK|APP|RUBY|HANAMI)_ENV[^\n;]{0,20}\.(?:start_with|end_with|include|eql|match)\?|\bRails\.env\s*==\s*[\"']test"
     r"|[\"']test[\"']\s*==[^\n]*\b\w+_ENV\b")),
    ("the machine it runs on", r"\bProcess\.pid\s*[<>%]|\bgethostname\s*(?:[!=]=\s*[\"']|\.(?:start_with|end_with|include|match)\?)"),
    ("the machine it runs on", r"\.(?:start_with|include)\?[( ]\s*(?:Dir\.tmpdir\b|[\"']/tmp\b)"),
    (GIVEN, rf"\.class\b(?:&?\.(?:name|to_s|inspect))*\s*(?:[!=]=~?|=~|&?\.(?:include|start_with|end_with|match|eql)\?[( ])\s*[\"'/][^\"'/\n]*(?:{FAKE}|Double)"),
    ("the program that was started", r"(?<!__FILE__ == )(?<!__FILE__==)\$(?:0|PROGRAM_NAME)\b(?!\s*==\s*__FILE__)|/proc/(?:self|#)|\bProcess\.ppid\b"),
    ("the environment of tests", r"\b(?:RAILS|RACK|APP|RUBY|HANAMI)_ENV[\"'\])]*(?:,[^)\n]*\))?\s*==\s*[\"']test|\bRails\.env\.test\?"),
    ("the environment of tests", r"\bENV(?:\[|\.(?:fetch|key\?)\()\s*[\"'](?:TEST\w*|SPEC\w*|RSPEC\w*|DETENT_\w*)"),
    ("source files", r"\b(?:File|Dir)\.(?:exist|file|directory)\?[( ]\s*[\"'](?:\./)?(?:spec|test|Gemfile(?:\.lock)?|\.rspec)[\"']"),
    ("source files", r"\b(?:File|IO)\.(?:read|binread|open|readlines|foreach)\(?\s*__FILE__|\bSCRIPT_LINES__\b"),
    ("source files", r"[\"'/][\w/*-]*_(?:spec|test)\.rb\b|[\"'](?:\.{0,2}/)*(?:spec|test)/|\bsource_location\b|\bmethod_source\b"),
    ("the clock", r"\bTime\.now(?:\.utc|\.to_i)?\s*[<>]=?\s*(?:Time\.(?:new|utc|local|at|gm|mktime|parse|iso8601)\b|\d[\d_]{8,})"),
    ("the clock", r"\b(?:Date|DateTime)\.(?:today|now)\s*[<>]=?\s*Date\w*\.(?:new|parse)\b"),
    ("the clock", r"\b(?:Time\.now|Date\.today)\.year\s*[<>=!]=*\s*\d|\bclock_gettime\([^)]*\)\s*[<>]=?\s*\d"),
)  # fmt: skip
RUST: Rows = (
    ("the environment of tests", r"\bcfg!\([^\n{;\"]*\btest\b|#!?\[cfg(?:_attr)?\([^\]\n]*\bnot\(\s*test\s*\)"),
    ("the environment of tests", rf"\b(?:var|var_os|option_env!)\(\s*\"(?:{CI})\""),
    ("the environment of tests", r"\benv::vars(?:_os)?\(\)\s*\.(?:any|find|filter|position|all|map|count)\("),
    ("how it was built", r"\bif\s+!?cfg!\((?:not\()?debug_assertions"),
    ("how it was built", r"#\[cfg\((?:not\()?debug_assertions\)+\]\s*(?:pub(?:\([^)]*\))?\s+)?(?:const\s+|async\s+)?(?:fn|return|const|static)\b"),
    ("the test runner", r"\benv::var(?:_os)?\(\s*\"CARGO\w*\"|\bPath::new\(\s*env!\(\s*\"CARGO_MANIFEST_DIR"),
    ("the environment of tests", r"\b(?:RUST_TEST_\w+|NEXTEST\w*|CARGO_TARGET_TMPDIR)\b"),
    ("the stack", r"\bLocation::caller\(|\bbacktrace::|\bBacktrace::(?:capture|force_capture|new)\b"),
    ("the test runner", r"\bthread::current\(\)\s*\.name\(|\bpanic::(?:set_hook|take_hook)\b|\bmodule_path!\(\)\s*\.\w+\("),
    ("the program that was started", (r"\bcurrent_exe\(|\benv::args(?:_os)?\(\)\s*\.(?:next\(|nth\(\s*0)|\benv::args(?:_os)?\(\)[^\n;]{0,80}\"[^\"\n]*(?:test|nocapture)"
     r"|/proc/(?:self|\{)")),
    (GIVEN, rf"\btype_name(?:_of_val)?(?:::<[^>\n]*>)?\([^)\n]*\)\s*\.(?:contains|starts_with|ends_with)\(\s*\"[^\"\n]*{FAKE}"),
    ("the machine it runs on", r"\.starts_with\(\s*&?(?:std::)?env::temp_dir\(\)"),
    ("source files", r"\binclude_(?:str|bytes)!\(\s*(?:file!|concat!\(\s*file!)|\binclude_str!\(\s*\"[^\"]*\.rs\"|\"(?:\.{0,2}/)*tests?/"),
    ("source files", r"\"(?:\.{0,2}/)*(?:Cargo\.(?:toml|lock)|tests?|target|src)\"\s*\)+\s*\.(?:try_exists|exists|is_dir|is_file|is_ok|is_err)\("),
    ("the clock", r"\.as_(?:secs|millis)\(\)\s*[<>]=?\s*\d[\d_]{8,}|\b(?:Utc|Local)::now\(\)(?:\.year\(\)\s*[<>=!]=*\s*\d|\s*[<>]=?\s*(?:Utc|NaiveDate|DateTime))"),
)  # fmt: skip
PHP: Rows = (
    ("the stack", r"\bdebug_(?:print_)?backtrace\b|\bnew\s+\\?\w*(?:Exception|Error)(?:\([^)]*\))?\s*\)\s*->\s*getTrace"),
    ("the stack", r"\b(?:str_contains|str_\w+_with|stri?pos|preg_match|substr_count|count|array_\w+|in_array)\([^\n;]{0,60}->getTrace(?:AsString)?\(\)|\bxdebug_\w+\("),
    ("the test runner", (r"\bPHPUNIT_\w+|\bPHPUnit\\|\b__PHPUNIT\w*|\bregister_shutdown_function\b|\bget_(?:included|required)_files\b|\brunningUnitTests\("
     r"|\bPest\\|\bPEST_\w+|\bget_declared_classes\(")),
    ("the test runner", r"[\"'][\w./\\-]*\b(?i:phpunit|paratest|codeception|behat)\b[\w./\\-]*[\"']|\bextension_loaded\(\s*[\"'](?:xdebug|pcov|uopz)"),
    (GIVEN, rf"\bget_class\([^)\n]*\)[^\n;]{{0,30}}[\"'][^\"'\n]*{FAKE}|[\"'][^\"'\n]*{FAKE}[^\n;]{{0,30}}\bget_class\(|\binstanceof\s+\\?\w*MockObject\b"),
    ("the test runner", r"\bfunction_exists\(\s*[\"'](?:expect|it|test|describe|beforeEach|uses)[\"']"),
    ("the program that was started", (r"(?:\bphp_sapi_name\(\)|\bPHP_SAPI\b)\s*[!=]==?\s*[\"'](?:cli|phpdbg)|[\"'](?:cli|phpdbg)[\"']\s*[!=]==?\s*(?:\\?php_sapi_name"
     r"|\\?PHP_SAPI)|\brunningInConsole\(")),
    ("the environment of tests", rf"\bgetenv\(\s*[\"'](?:{CI})[\"']|\$_(?:ENV|SERVER)\[\s*[\"'](?:{CI})[\"']"),
    ("the environment of tests", r"\benvironment\(\s*\[?\s*[\"']test"),
    ("source files", r"\b(?:is_dir|is_file|file_exists|glob|scandir|opendir)\([^\n;]{0,60}[\"'/](?i:tests?)(?:/[^\"'\n]*)?[\"']"),
    ("the environment of tests", r"[\"'](?:APP_ENV|SYMFONY_ENV)[\"'][^\n;]{0,20}[!=]==?\s*[\"']test"),
    ("source files", r"\b(?:file_get_contents|fopen|file|hash_file|md5_file|sha1_file|filemtime)\(\s*__FILE__|[\"'/][\w/*-]*Test\.php\b|[\"'](?:\.{0,2}/)*tests?/"),
    ("the clock", r"\btime\(\)\s*[<>]=?\s*(?:\d{9,}|strtotime\(\s*[\"']\d|mktime\()|\bdate\(\s*[\"'](?:Y|Ymd|Y-m-d)[\"']\s*\)\s*[<>=!]=*\s*[\"']?\d"),
)  # fmt: skip
JVM: Rows = (
    (GIVEN, rf"\.get(?:Simple)?Name\(\)\s*\.(?:contains|startsWith|endsWith|equals|matches)\(\s*\"[^\"\n]*{FAKE}|\bmockingDetails\(|\bMockUtil\b"),
    ("the stack", r"\bgetStackTrace\(\)\s*\[|\b(?:Throwable|Exception)\(\)\s*\)?\.(?:getStackTrace|stackTrace)\b"),
    ("the stack", r"\bcurrentThread\(\)\.(?:getStackTrace|stackTrace)\b|\bStackWalker\b|\bgetAllStackTraces\(|\bfillInStackTrace\(\)\.getStackTrace"),
    ("the test runner", r"\borg[./](?:junit|testng|mockito|spockframework)\b|\bio\.kotest\b|\bgetRuntime\(\)\.(?:halt|addShutdownHook)\b"),
    ("the test runner", r"\bsurefire\b|\bjava\.lang\.instrument\b|\"[^\"\n ]*\b(?:jacoco|junit|testng)\b|\bgetInputArguments\(\)"),
    ("the test runner", (r"\bcurrentThread\(\)\.(?:getName\(\)|name)\s*(?:\.(?:equals|startsWith|endsWith|contains|matches)\(|[!=]=)\s*\""
     r"|\"\.equals\(\s*Thread\.currentThread\(\)\.getName")),
    ("where it is installed", r"\bgetProtectionDomain\(\)|\bgetCodeSource\(\)|\bgetResource\w*\(\s*\"[^\"\n]*(?:\btest\b|Tests?\.class)"),
    ("the environment of tests", rf"\bgetenv\(\s*\"(?:{CI})\"|\bgetenv\(\)\.(?:containsKey\(\s*\"(?:{CI})|keySet|entrySet|keys)"),
    ("the environment of tests", r"\"(?:basedir|maven\.[\w.]+|idea\.test[\w.]*|gradle\.[\w.]+)\"|\b(?:getActiveProfiles|acceptsProfiles|matchesProfiles)\([^\n;]{0,60}\"test"),
    ("the program that was started", r"\"(?:sun\.java\.command|java\.class\.path|org\.gradle\.test\.worker)\"|/proc/self|\.info\(\)\.(?:command|commandLine|arguments)\("),
    ("source files", r"\"[^\"\n]*src/test/|\"[^\"\n]*Tests?\.(?:java|kt)\""),
    ("the clock", r"\bcurrentTimeMillis\(\)\s*[<>]=?\s*\d{9,}"),
    ("the clock", r"\b(?:Local\w+|ZonedDateTime|Instant)\.now\([^)]*\)\.is(?:After|Before)\(\s*(?:Local\w+|ZonedDateTime|Instant)\.(?:of|parse|ofEpoch\w+)\b"),
    ("the clock", r"\bYear\.now\(\)\.getValue\(\)\s*[<>=!]"),
)  # fmt: skip
DOTNET: Rows = (
    (GIVEN, rf"\.GetType\(\)\.(?:Full)?Name\b[^\n;]{{0,40}}\"[^\"\n]*(?:{FAKE}|Proxy)"),
    ("the stack", r"\bnew\s+Stack(?:Trace|Frame)\b|\bEnvironment\.StackTrace\b|\[CallerMemberName\]|\[CallerFilePath\]"),
    ("the test runner", r"\"[^\"\n]*\b(?:xunit|nunit|testhost|Microsoft\.VisualStudio\.TestPlatform)\b|\b(?:Xunit|NUnit)\.\w"),
    ("the test runner", r"\bGetAssemblies\(\)|\bEnvironment\.(?:FailFast|CommandLine)\b|\bGetCallingAssembly\(\)|\bGetCommandLineArgs\(\)\[0\]|\bDebugger\.IsAttached\b"),
    ("the environment of tests", rf"\bGetEnvironmentVariable\(\s*\"(?:{CI}|VSTEST_\w+|XUNIT_\w+|NUNIT_\w+|TEST\w*)\""),
    ("the environment of tests", (r"\bGetEnvironmentVariable\(\s*\"\w*ENVIRONMENT\"\s*\)\s*[!=]=\s*\"[Tt]est|\bIsEnvironment\(\s*\"[Tt]est"
     r"|\bGetEnvironmentVariables\(\)\.(?:Keys|Contains|Cast)")),
    ("how it was built", r"^[ \t]*#if\s+!?DEBUG\b(?=[^#]*\breturn\b)"),
    ("the clock", r"\bDateTime(?:Offset)?\.(?:Utc)?Now\s*[<>]=?\s*new\s+DateTime|\bDateTime(?:Offset)?\.(?:Utc)?Now\.Year\s*[<>=!]"),
)  # fmt: skip

LANGUAGES: Mapping[str, tuple[str, Rows]] = {
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte"), ("c", JAVASCRIPT)),
    ".go": ("one", GO),
    ".rb": ("hash", RUBY),
    ".rs": ("one", RUST),
    ".php": ("c", PHP),
    **dict.fromkeys((".java", ".kt", ".scala", ".groovy"), ("one", JVM)),
    **dict.fromkeys((".cs", ".fs", ".vb"), ("one", DOTNET)),
}
_OF_JAVASCRIPT = (
    ("the machine it runs on", r"\{[^{}\n]*\b(platform|arch)\b[^{}\n]*\}\s*=\s*(?:process|os)\b", r"(?<![\w.]){name}\s*[!=]==?\s*[\"'`](?:linux|x64|arm64)"),
    ("source files", r"\bfunction\s*\*?\s*(\w+)\s*\(|\bconst\s+(?P<name>\w+)\s*=\s*(?:async\s*)?(?:\([^()\n]*\)|\w+)\s*=>",
     r"(?<![\w.]){name}(?:\.toString\(\)|\s*\+\s*[\"'`]{{2}})|\bString\(\s*{name}\s*\)|\btoString\.call\(\s*{name}\s*\)|\$\{{\s*{name}\s*\}}"),
    ("the stack", r"\b(?:const|let|var)\s+(\w+)\s*=\s*(?:new\s+)?Error\(", r"\b{name}\??(?:\.stack\b|\.?\[[\"'`]stack)"),  # created to read its stack, not to throw
    ("the test runner", r"\b(\w+)(?:\s*:\s*\w+)?\s*=\s*\(?(?:globalThis|global|window|self|Function\(\s*[\"'`]return this[\"'`]\s*\)\(\))(?![\w.\[(])",
     rf"\b{{name}}(?:\??\.|\[[\"'`])(?:{GLOBALS})\b"),
    ("the environment of tests", r"\b(\w+)(?:\s*:\s*\w+)?\s*=\s*\(?[\w.?]*\bprocess\.env\??\.NODE_ENV\b",
     r"\b{name}\b[^\n;=<>]{{0,12}}(?:[!=]==?\s*|\.(?:startsWith|endsWith|includes|match)\(\s*)[\"'`/^]*t(?:e(?:st?)?)?(?:ing)?[\"'`/]"),
)  # fmt: skip
FOLLOWED: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte"), _OF_JAVASCRIPT),
    ".rs": (("the test runner", r"\blet\s+(?:mut\s+)?(\w+)\s*=\s*(?:std::)?thread::current\(\)", r"\b{name}\.name\(\)"),),
    ".rb": (("the environment of tests", r"\b(\w+)\s*=\s*ENV(?:\[|\.fetch\()\s*[\"']\w+_ENV[\"']", r"\b{name}\s*==\s*[\"']test"),),
    ".go": (("the environment of tests", r"\b(\w+)\s*:?=\s*os\.Environ\(\)", r"\brange\s+{name}\b"),),
}  # what is checked, a pattern for an assignment, and one for the use of the assigned {name}
ARGS, MAIN = (
    re.compile(r"\bos\.Args\b|\bflag\.(?:CommandLine\.)?(?:NFlag|NArg|Args?|Visit|VisitAll|Parsed)\("),
    re.compile(r"^package main\b", re.MULTILINE),
)  # only a main package should read its arguments
ENDS = {
    ".py": r"\bsys\.exit\(|\bos\._exit\(|(?<![\w.])(?:exit|quit)\(|\bSystemExit\b",
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"), r"\bprocess(?:\.|\[[\"'`])(?:exit|exitCode|reallyExit|abort|kill)\b|\bDeno\.exit\("),
    ".go": r"\bos\.Exit\(|\bsyscall\.(?:Exit|Kill)\(",
    ".rb": r"(?<![\w.])exit!?(?:\s|\(|$)|\bProcess\.exit|\babort\b",
    ".rs": r"\bprocess::(?:exit|abort)\(",
    ".php": r"(?<![\w$>])(?:exit|die)\s*[;(]",
    **dict.fromkeys((".java", ".kt", ".scala"), r"\bSystem\.exit\(|\.halt\(|\bexitProcess\("),
    **dict.fromkeys((".sh", ".bash"), r"^\s*exit\s+0\b|\bkill\b"),
    **dict.fromkeys((".c", ".cc", ".cpp", ".h", ".hpp"), r"\b_?exit\(|\bquick_exit\("),
    ".cs": r"\bEnvironment\.(?:Exit|FailFast)\(",
    ".pl": r"\bexit\b",
    ".lua": r"\bos\.exit\(",
}  # calls that end the process  # fmt: skip
Hit = tuple[int, str]


def hits(path: str, text: str, lines: Collection[int]) -> list[Hit]:
    """The places in a file that check who is calling; none if the language is unknown. `lines`: the changed lines."""
    suffix = PurePosixPath(path).suffix
    comments, rows = LANGUAGES.get(suffix, ("", ()))
    if not rows:
        return []
    plain = code_of(comments, text)
    found = {*machine_hits(suffix, plain, lines), *((line, f"{NAME_OF}, hidden ({word})") for line, word in hidden_words(plain))}
    for what, pattern in rows:
        found |= {
            (_line(plain, hit.start()), f"{what} ({' '.join(hit[0].split())[:60]})") for hit in re.finditer(pattern, plain, re.MULTILINE)
        }
    for args in ARGS.finditer(plain) if rows is GO and not MAIN.search(plain) else ():
        found.add((_line(plain, args.start()), f"the program that was started ({args[0]})"))
    for what, given, used in FOLLOWED.get(suffix, ()):
        for name in {each[1] or each["name"] for each in re.finditer(given, plain)}:
            read = re.finditer(used.format(name=re.escape(name)), plain)
            found |= {(_line(plain, hit.start()), f"{what} ({hit[0]})") for hit in read}
    return sorted(found)


def endings(path: str, text: str) -> list[int]:
    """The lines on which a program ends its own process."""
    pattern = ENDS.get(PurePosixPath(path).suffix, "")
    return [_line(text, hit.start()) for hit in re.finditer(pattern, text, re.MULTILINE)] if pattern else []


def code_of(comments: str, text: str) -> str:
    """The code without comments and with joined strings merged; lines keep their numbers."""
    plain = COMMENTS[comments].sub(lambda m: m[0] if m["keep"] is not None else re.sub(r"[^\n]", " ", m[0]), text)
    plain = SPLIT.sub(lambda m: "\n" * m[0].count("\n"), plain)
    return AROUND[comments].sub(r"\g<of>.\g<name>", plain) if comments in AROUND else plain


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
