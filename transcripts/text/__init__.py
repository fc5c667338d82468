"""Words, cues and times: the tokenizer, BM25, paging. It needs no framework and no database."""
