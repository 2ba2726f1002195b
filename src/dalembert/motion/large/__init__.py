"""Systems of many coordinates: everything in time and memory that grow with their number and no faster."""
