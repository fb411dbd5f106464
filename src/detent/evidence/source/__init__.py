"""Reading source code and diffs as text: where the tests of a file are, their names, its tokens and constants, what a patch changed.

Pure: text in, values out. Must not know git, test runners or what a result is used for.
"""
