"""Results as notebooks show them."""
