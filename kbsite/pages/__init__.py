"""Pages that belong to no other room: home, glossary, shared links, the API reference."""
