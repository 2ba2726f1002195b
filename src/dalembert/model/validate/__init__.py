"""From what a user wrote to the parts of a `System`: what reads, and what checks that the parts fit together."""
