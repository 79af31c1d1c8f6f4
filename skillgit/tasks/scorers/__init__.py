"""Pure scorers of published benchmarks: they read no file and ask no model, and give the published scores."""
