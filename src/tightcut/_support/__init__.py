"""Small things that every room uses: settings that are one of a few words, warnings, Ctrl-C."""
