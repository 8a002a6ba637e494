"""From a recorded program to machine code, through LLVM."""
