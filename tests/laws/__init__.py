"""One file for each law, which applies it to all samples."""
