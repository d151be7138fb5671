"""Front ends: files and generators become compiled games, and suites of them."""
