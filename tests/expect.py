"""Checks of scripts in Python: what does not hold is printed, and counted."""
import sys

checks = failed = 0


def expect(holds, what):
    global checks, failed
    checks += 1
    if not holds:
        failed += 1
        print(f"FAILED: {what}", file=sys.stderr)
    return holds


def verdict(name):
    """The exit code of a test."""
    print(f"{name}: {checks} checks, {failed} failed")
    return 1 if failed or not checks else 0
