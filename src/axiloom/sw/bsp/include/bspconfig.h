/* The vendor's generated settings: nothing here depends on them. */
