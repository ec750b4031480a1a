"""Driver 3: a command asked again while its reply loops."""
