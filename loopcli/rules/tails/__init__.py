"""The tails rule, which judges sessions."""
