"""HTTP: the JSON API of a repository's runs, and the web page built on it. Every change goes through the one door."""
