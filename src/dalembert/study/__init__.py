"""What single principles compute of motions: paths, contrasts, comparisons, reductions."""
