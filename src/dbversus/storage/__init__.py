"""What is kept in the home: how much room it takes, when it was last used, and how it is removed."""
