"""The demonstrations: scripted agents in throw-away repositories, with real git and real tests. `show` of each module is one of them."""
