"""The explorer in the browser: a page and a JSON API over stores."""
