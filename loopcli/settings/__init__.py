"""What flags, environment, file and preset arm together."""
