"""A range of members from beginning to end."""
