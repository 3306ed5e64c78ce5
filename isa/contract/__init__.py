"""What a specification consists of, as values: vocabulary, `AcceleratorSpec`, words and beats."""
