"""What a sweep gave, in memory and on disk."""
