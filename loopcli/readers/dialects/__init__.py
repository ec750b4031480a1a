"""What a provider's documents mean, one dialect a file."""
