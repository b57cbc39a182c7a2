"""One function over many parameters, on all cores or machines; what is done is kept."""
