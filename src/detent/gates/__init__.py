"""Gates: functions over a Look. The function's name names the gate, its docstring is the rule, its result None or what is wrong."""
