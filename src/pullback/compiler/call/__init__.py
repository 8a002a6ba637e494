"""What `compile` returns, inside transformations and outside; export to C."""
