"""A motion or an ensemble as one HTML file to read, to keep, and to print."""
