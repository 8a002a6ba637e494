"""A repetition in a recorded graph becomes one `scan`, and is made ready for lowering."""
