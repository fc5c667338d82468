"""A question becomes an answer whose every citation was checked, or a refusal: one function a stage."""
