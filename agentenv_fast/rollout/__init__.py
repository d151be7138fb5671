"""Where env and policy meet: experience collected on the host, and statistics of the episodes in it."""
