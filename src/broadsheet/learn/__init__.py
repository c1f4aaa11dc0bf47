"""Estimators in scikit-learn's conventions that learn one reader: the memory of events and the ranker fitted to it."""
