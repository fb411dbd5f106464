"""What a change touches: which of its files are tests, code or configuration, which projects and dependencies there are, what is only words.

Reads trees and kept reports; runs nothing itself. Must not know outcomes, flags or gates.
"""
