"""One call becomes a graph with guards; the verdict says whether it may stand for others."""
