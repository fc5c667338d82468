"""The write and read side of conversations: asking, asking again, feedback, and export."""
