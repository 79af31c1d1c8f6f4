"""Building the splits of published benchmarks from released id lists and a user's own copy of the data."""
