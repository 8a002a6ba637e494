"""What one process has recorded, later processes find on disk. Optional."""
