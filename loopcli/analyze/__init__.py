"""Driver 2: recorded replies to rows, scores and gates."""
