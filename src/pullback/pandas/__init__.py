"""pandas for programs that are differentiated: columns whose numbers carry a derivative.

    def loss(x):
        prices = pd.Series(x, index=days)
        return prices.pct_change().rolling(5).std().mean()

Nothing here is called by its name. Once a program has imported pandas, this package is imported as
soon as a transformation runs: what pandas would make of an Array becomes a `Live` column, one of
pandas' own extension arrays, and what pandas computes in compiled code is computed here with
NumPy's functions. Programs that do not import pandas do not pay for it.
"""

from . import entries as _entries  # noqa: F401  # enters what it has
