"""Reading source code and diffs as text: where the tests of a file stand, what they are called, its tokens and constants, what a patch changed.

Pure: texts in, values out. Must not know git, test runners or what a find is held against.
"""
