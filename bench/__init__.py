"""Measurements on real data; ``python -m bench`` runs all and writes ``bench/results``."""
