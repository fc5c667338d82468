"""Pictures as PDF files, whose pages are drawn and read by OCR as those of others."""
