"""What a sweep is asked: what varies, and what is kept."""
