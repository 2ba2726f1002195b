"""What a user writes: a `System`, from Python or from a document."""
