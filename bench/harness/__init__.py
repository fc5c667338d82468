"""What all measurements share: a library of their own, runs in turn, tables, the results' file."""
