"""The kernel: errors, scope, locks, lists, audit. It knows no transcript and no interface."""
