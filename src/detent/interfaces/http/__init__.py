"""HTTP: the API of a repository's runs as JSON, and the web page that stands on it. Words in, words out; every change goes through the one door."""
