"""The read side of documents: pages, their images, and where on them a quote stands."""
