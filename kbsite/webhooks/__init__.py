"""Webhooks: programs elsewhere are notified of events here, as Standard Webhooks describes it."""
