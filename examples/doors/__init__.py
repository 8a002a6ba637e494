"""Five doors into one engine: for those who come from a small teaching system."""
