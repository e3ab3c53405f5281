"""From definitions to a suite: names resolved, checked, variants expanded."""
