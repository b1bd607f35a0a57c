"""The interactive shell: reading, evaluating and showing what is typed. May import every other layer; imports nothing here by itself."""
