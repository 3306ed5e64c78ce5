"""Boards: their folders, bring-up, bitstreams without a vendor's tools."""
