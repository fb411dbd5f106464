"""Evidence: what can be seen of a submit, and how tests are run and read. Never believes an agent's word."""
