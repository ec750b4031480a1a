"""The streaks rule, which judges sessions."""
