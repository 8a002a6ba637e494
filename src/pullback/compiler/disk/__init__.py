"""Cached artifacts: later processes find on disk what an earlier one recorded. Optional.

portable            what a function reads, described without addresses
closures            functions in them: by their place, or by their code and cells
pickles             programs as bytes, which call nothing when they are loaded
process_dependence  code whose results differ between processes, which is not kept
records             paths written to disk, found there and restored
"""
