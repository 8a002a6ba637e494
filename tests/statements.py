"""Statements in the source of modules, without the expressions in them, which are most of it."""

BODIES = "body", "orelse", "handlers", "finalbody", "cases"


def inside(node, fields=BODIES):
    """The statements right inside one, and the clauses of `try` and `match`."""
    for field in fields:
        parts = getattr(node, field, ())
        yield from parts if isinstance(parts, list) else ()


def statements(node):
    """All statements inside one, at any depth."""
    for child in inside(node):
        yield child
        yield from statements(child)
