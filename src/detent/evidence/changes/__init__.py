"""What a change touches: which files are tests, code or configuration, which projects and dependencies, and which changes are only documentation.

Reads trees and cached reports; runs nothing. Must not know outcomes, flags or gates.
"""
