"""What will be done and how long it takes: groups, slots, time, disk; and how far a journal got."""
