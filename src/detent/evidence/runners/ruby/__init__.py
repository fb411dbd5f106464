"""Ruby: RSpec."""
