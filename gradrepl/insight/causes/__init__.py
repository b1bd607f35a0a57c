"""Why a gradient is what it is: each module holds rules for one kind of question, the surest first. Imports history, places, graphs."""
