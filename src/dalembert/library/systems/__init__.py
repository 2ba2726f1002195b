"""One file per system, or per family of near relatives: how to build it and, where known, its closed form."""
