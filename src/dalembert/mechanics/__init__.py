"""What a person reads: equations and what they say, in symbols. What numbers need of it works on arrays."""
