"""The demos: scripted agents in throw-away repositories, with real git and real tests. Each module has one, as `show`."""
