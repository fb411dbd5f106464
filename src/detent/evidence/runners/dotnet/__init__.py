""".NET: `dotnet test`."""
