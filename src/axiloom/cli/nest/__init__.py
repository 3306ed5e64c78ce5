"""Commands about loop nests."""
