"""What a function reads besides its arguments, what it may do, and how to undo it."""
