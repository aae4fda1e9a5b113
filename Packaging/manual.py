#!/usr/bin/env python3
"""Prints the manual page of thumbs: manual.py THUMBS > thumbs.1

The page depends only on the help of the command (--experimental-dump-help), so the same command always gives the same
page.
"""
import json
import re
import subprocess
import sys

ENVIRONMENT = [
    ("THUMBS_CONFIG", "The configuration file, which must exist; none if empty."),
    ("XDG_CONFIG_HOME", "The parent directory of configurations; the default is ~/.config."),
    ("THUMBS_CACHE_DIR", "The directory of the cache."),
    ("XDG_CACHE_HOME", "The parent directory of caches; the default is ~/.cache."),
    ("http_proxy, https_proxy, all_proxy, no_proxy", "Proxies, as curl(1) reads them."),
    ("NO_COLOR", "If set and not empty, progress has no colors."),
    ("TERM", "If set to dumb, progress is printed as plain lines."),
]
FILES = [
    ("apps.plist", "The manifest if the command line names none."),
    ("./thumbs", "The output directory without --output."),
    ("~/.config/thumbs/config.toml", "The configuration file: defaults for options, under their names."),
    ("~/.cache/thumbs", "The cache. It can be removed at any time; \"thumbs cache clear\" is better if it is in use."),
]


def escaped(text):
    """Escapes text for troff: backslashes, hyphens that can be copied, and lines that look like requests."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def entry(term, text):
    return [".TP", term, escaped(text)]


def term(argument):
    """Formats the names of an argument like `-o, --output dir`, with literal text in bold."""
    value = f" \\fI{escaped(argument['valueName'])}\\fR" if argument["kind"] == "option" else ""
    if argument["kind"] == "positional":
        return f"\\fI{escaped(argument['valueName'])}\\fR" + (" ..." if argument["isRepeating"] else "")
    names = [("-" if name["kind"] == "short" else "--") + name["name"] for name in argument["names"]]
    return ", ".join(f"\\fB{escaped(name)}\\fR" for name in names) + value


def description(argument):
    text = " ".join(argument[key] for key in ("abstract", "discussion") if key in argument)
    values = argument.get("allValues")
    text += f" One of {', '.join(values)}." if values else ""
    default = argument.get("defaultValue")
    return text + (f" (default: {default})" if default else "")


def discussion(text):
    """Formats paragraphs; indented lines keep their line breaks."""
    lines = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        lines.append(".PP")
        fixed = False
        for line in paragraph.split("\n"):
            if line.startswith("  ") != fixed:
                fixed = not fixed
                lines += [".RS 4", ".nf"] if fixed else [".fi", ".RE"]
            lines.append(escaped(line.removeprefix("  ")))
        lines += [".fi", ".RE"] if fixed else []
    return lines


def options(command):
    lines, title = [], None
    for argument in command.get("arguments", []):
        if not argument["shouldDisplay"] or argument.get("preferredName", {}).get("name") in ("help", "version"):
            continue
        if argument.get("sectionTitle") != title:
            title = argument.get("sectionTitle")
            lines += [".PP", f"\\fI{escaped(title)}\\fR"] if title else []
        lines += entry(term(argument), description(argument))
    return lines


def leaves(command, path):
    """Yields the path and the description of each command without subcommands."""
    children = [child for child in command.get("subcommands", []) if child["shouldDisplay"]]
    children = [child for child in children if child["commandName"] != "help"]
    if not children:
        yield path, command
    for child in children:
        yield from leaves(child, path + [child["commandName"]])


def groups(command, path):
    """Yields the path and the description of each command with subcommands."""
    for child in command.get("subcommands", []):
        if child.get("subcommands"):
            yield path + [child["commandName"]], child


def page(command, version):
    name = command["commandName"]
    commands = list(leaves(command, [name]))
    lines = [f".TH {name.upper()} 1 \"\" \"{name} {version}\" \"User Commands\"",
             ".SH NAME", f"{name} \\- {escaped(command['abstract'].rstrip('.'))}", ".SH SYNOPSIS"]
    for path, leaf in commands:
        positional = [argument for argument in leaf.get("arguments", []) if argument["kind"] == "positional"]
        lines += [f"\\fB{escaped(' '.join(path))}\\fR [options] " + " ".join(f"[{term(a)}]" for a in positional), ".br"]
    lines += [".SH DESCRIPTION", escaped(command["abstract"]), f"Without a command, {name} does "
              f"\\fB{command['defaultSubcommand']}\\fR.", *discussion(command.get("discussion", ""))]
    for path, group in groups(command, [name]):
        lines += [f".SH \"{escaped(' '.join(path)).upper()}\"", escaped(group["abstract"]),
                  *discussion(group.get("discussion", ""))]
    lines.append(".SH COMMANDS")
    for path, leaf in commands:
        lines += [f".SS \"{escaped(' '.join(path))}\"", escaped(leaf["abstract"]),
                  *discussion(leaf.get("discussion", "")), *options(leaf)]
    for title, entries in (("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)):
        lines.append(f".SH {title}")
        for key, text in entries:
            lines += entry(f"\\fB{escaped(key)}\\fR", text)
    return "\n".join(lines + [".SH SEE ALSO", "curl(1)", ""])


def main():
    thumbs = sys.argv[1]
    run = lambda *arguments: subprocess.run([thumbs, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout
    sys.stdout.write(page(json.loads(run("--experimental-dump-help"))["command"], run("--version").strip()))


if __name__ == "__main__":
    main()
