"""Python calls machine code: object layouts, checks of arguments and state."""
