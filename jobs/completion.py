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
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple

from jobs.command.parser import VerbParser
from jobs.command.run import Outcome, command
from jobs.command_line import VERBS


def parser() -> VerbParser:
    made = VerbParser("completion", __doc__)
    made.add_argument("shell", choices=[*SCRIPTS])
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    script = SCRIPTS[arguments.shell](list(verbs()))
    return Outcome({"shell": arguments.shell, "script": script}, script)


class Verb(NamedTuple):
    """A verb."""

    name: str  # as it is typed
    told: str  # its meaning in one line
    options: Sequence[argparse.Action]  # in the order of its parser, with help in one line and all known values
    first: Sequence[str]  # values of its first argument; empty: any
    files: bool  # the first argument may also be a file


def verbs() -> Iterator[Verb]:
    """Yield all verbs with their options and the values that are known of them."""
    values = _values()
    for name, told in VERBS.items():
        made = import_module(f"jobs.{name.replace('-', '_')}").parser()
        actions: list[argparse.Action] = made._actions  # noqa: SLF001  # argparse has no other way to its options
        for action in actions:
            action.choices = _known(action, values)
            action.help = " ".join((action.help or "").replace("%%", "%").split())
        first = next((action for action in actions if not action.option_strings), None)
        known = [*first.choices] if first and first.choices else []
        options = [action for action in actions if action.option_strings]
        yield Verb(name, told, options, known, first is not None and (not known or first.metavar == "CONFIG"))


def _known(action: argparse.Action, values: Mapping[str, Sequence[str]]) -> list[str]:
    if action.choices is not None:
        return [str(one) for one in action.choices]
    return list(values.get(f"{[*action.option_strings, ''][0]} {action.metavar or ''}".strip(), ()))


def _values() -> dict[str, Sequence[str]]:
    """Return the values of options and arguments without choices, by the option's flag and the name of its value."""
    from jobs.configs import preset_names
    from jobs.list import LISTS
    from longform import measures
    from longform.formats.names import EXPORTS
    from longform.results.gate import SUPPORT
    from longform.settings.named_judges import SHIPPED_JUDGES

    scored = [SUPPORT, *(one.name for one in measures.SHIPPED if " " not in one.name)]
    return {
        "CONFIG": preset_names(),
        "WHAT": [*LISTS],
        "--as": [*EXPORTS],
        "--judge NAME": [*SHIPPED_JUDGES],
        "--measure M": scored,
        "--against-measure M": scored,
    }


# ---------------------------------------------------------------- bash, and zsh by its bashcompinit

_BASH = """\
_longform() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" verb="${{COMP_WORDS[1]}}"
  local options="" valued="" first="" files="" values="" n=0 skip="" i word
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=( $(compgen -W "{verbs} --version --help" -- "$cur") )
    return
  fi
  case "$verb" in
{cases}
    *) return ;;
  esac
  case "$verb $prev" in
{values}
    *) ;;
  esac
  if [ -n "$values" ]; then
    COMPREPLY=( $(compgen -W "$values" -- "$cur") )
    return
  fi
  case " $valued " in *" $prev "*) return ;; esac
  case "$cur" in
    -*) COMPREPLY=( $(compgen -W "$options" -- "$cur") ); return ;;
  esac
  for (( i = 2; i < COMP_CWORD; i++ )); do
    word="${{COMP_WORDS[i]}}"
    if [ -n "$skip" ]; then skip=""; continue; fi
    case "$word" in
      -*) case " $valued " in *" $word "*) skip=1 ;; esac ;;
      *) n=$(( n + 1 )) ;;
    esac
  done
  if [ "$n" -eq 0 ] && [ -n "$first" ]; then
    COMPREPLY=( $(compgen -W "$first" -- "$cur") )
    if [ -n "$files" ]; then COMPREPLY+=( $(compgen -f -- "$cur") ); fi
  fi
}}
complete -o default -F _longform longform"""
_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


def bash_script(all_verbs: Sequence[Verb]) -> str:
    """Return the script of bash; if nothing is known of a value, the shell's own completion of files holds."""
    cases, values = [], []
    for verb in all_verbs:
        flags = " ".join(flag for option in verb.options for flag in option.option_strings)
        valued = " ".join(flag for option in verb.options if option.nargs != 0 for flag in option.option_strings)
        parts = [f'options="{flags}"', f'valued="{valued}"', f'first="{" ".join(verb.first)}"']
        parts += ["files=1"] if verb.files else []
        cases.append(f"    {verb.name}) {'; '.join(parts)} ;;")
        for option in verb.options:
            if option.choices:
                patterns = "|".join(f'"{verb.name} {flag}"' for flag in option.option_strings)
                values.append(f'    {patterns}) values="{" ".join(option.choices)}" ;;')
    names = " ".join(verb.name for verb in all_verbs)
    return _BASH.format(verbs=names, cases="\n".join(cases), values="\n".join(values))


def zsh_script(all_verbs: Sequence[Verb]) -> str:
    """Return the script of zsh: that of bash, which zsh takes."""
    return _ZSH + bash_script(all_verbs)


# ---------------------------------------------------------------- fish


def fish_script(all_verbs: Sequence[Verb]) -> str:
    """Return the script of fish, with the meanings of verbs and options."""
    lines = []
    for verb in all_verbs:
        lines.append(f"complete -c longform -n __fish_use_subcommand -f -a {verb.name} -d {_quoted(verb.told)}")
        seen = f"-n '__fish_seen_subcommand_from {verb.name}'"
        if verb.first:
            no_files = "" if verb.files else " -f"
            lines.append(f"complete -c longform {seen}{no_files} -a {_quoted(' '.join(verb.first))}")
        for option in verb.options:
            given = option.option_strings
            flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in given)
            shown, any_value = " ".join(option.choices or ()), " -r" if option.nargs != 0 else ""
            takes = f" -x -a {_quoted(shown)}" if option.choices else any_value
            lines.append(f"complete -c longform {seen} {flags}{takes} -d {_quoted(option.help or '')}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


SCRIPTS = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
