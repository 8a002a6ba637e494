"""pandas for programs that are differentiated: columns whose numbers carry a derivative.

    def loss(x):
        prices = pd.Series(x, index=days)
        return prices.pct_change().rolling(5).std().mean()

Nothing here is called by its name. Once a program has imported pandas, this package is imported as
soon as a transformation runs: what pandas would make of an Array becomes a `Live` column, one of
pandas' own extension arrays, and what pandas computes in compiled code is computed here with
NumPy's functions. Programs that do not import pandas do not pay for it.

    columns        the column, and its dtype
    reductions     what pandas computes of one column
    windows        what it computes of moving windows
    stand_ins      how a function comes to stand for one of pandas'
    entries        constructors, assignments, and what leaves
    levels         quantiles whose level carries a derivative, bins
    compiled_code  what pandas computes in compiled code
    pandas_2       what pandas 2.2 does otherwise
    trees          Series and DataFrames as trees
"""

from . import compiled_code, entries, levels, pandas_2  # noqa: F401  # they enter what they have
