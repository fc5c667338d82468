"""What a reader is shown: sentences with their times, the sentences of a query, where a hit is."""
