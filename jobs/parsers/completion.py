"""
A script by which a shell completes verbs, options and their values at the TAB.

    longform completion bash > ~/.local/share/bash-completion/completions/longform
    longform completion zsh > ~/.longform-completion.zsh      and in ~/.zshrc: source ~/.longform-completion.zsh
    longform completion fish > ~/.config/fish/completions/longform.fish

Reads   nothing but the program itself
Writes  nothing; the script starts no Python at the TAB, so print it again after an upgrade
"""

from __future__ import annotations

import argparse

from jobs.parsers.verb import verb_parser

SHELLS = ("bash", "zsh", "fish")


def parser() -> argparse.ArgumentParser:
    made = verb_parser("completion", __doc__)
    made.add_argument("shell", choices=SHELLS)
    return made
