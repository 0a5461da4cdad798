"""What several apps share; of them it knows at most the models."""
