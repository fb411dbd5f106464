"""Gates: functions over a Look. The name is the gate, the docstring the rule, the result None or what is wrong."""
