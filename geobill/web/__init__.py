"""The review page: requests in, pipeline calls, pages in Portuguese out. It listens on this machine only."""
