"""Headers in the place of LZ4's and zlib's, for FST traces without these libraries."""
