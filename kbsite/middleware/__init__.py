"""What every request passes through: limits, repetition, compression, language."""
