"""The demo: a classifier, a logistic regression and a gradient check, on real data.

`make demo` runs it. Read `models.py` first, then `train.py`.
"""
