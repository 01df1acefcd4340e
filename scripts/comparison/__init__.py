"""Every scheme on the standard scenarios: runs, figures of them, the page and its pictures."""
