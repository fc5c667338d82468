"""Webhooks: programs elsewhere are told what happens here, as Standard Webhooks describes it."""
