"""JavaScript and TypeScript: node's own runner, vitest, jest and mocha."""
