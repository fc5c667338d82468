"""Citations for reference managers: CSL-JSON and BibTeX. Pure."""
