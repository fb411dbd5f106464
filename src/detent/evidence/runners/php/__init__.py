"""PHP: PHPUnit."""
