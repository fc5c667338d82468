"""What a question wants: one fact or an overview, once or in several parts. Pure; what needs a model is passed in."""
