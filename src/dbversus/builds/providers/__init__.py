"""One module per place that builds come from; each has a `fetch`."""
