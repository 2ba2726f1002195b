"""Models as TOML documents."""
