"""LLVM text becomes machine code. Knows no graph."""
