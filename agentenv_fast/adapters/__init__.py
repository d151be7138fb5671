"""Adapters: thin, lazy dresses for other people's interfaces. Each imports its library when it is itself imported."""
