"""What every door shows of sources, passages and answers: each shape declared once.

A shape is read from a model or value with ``model_validate``; REST returns it, MCP and
``kb --json`` dump it. Times are seconds. ``transcripts.schemas`` has those of jobs and videos.
"""
