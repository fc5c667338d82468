"""Conversations, stored answers, notes and their export."""
