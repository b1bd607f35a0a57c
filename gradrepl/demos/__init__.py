"""Guided demos: plain scripts, typed by `gradrepl demo`. The first comment is the title, the others are what is said on the way."""
