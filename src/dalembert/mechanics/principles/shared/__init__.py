"""What several principles use."""
