"""Cached artifacts: later processes find on disk what an earlier one recorded. Optional.

portable            what a function reads, described without addresses
process_dependence  code whose results differ between processes, which is not kept
records             paths written to disk, found there and restored
"""
