"""Words to avoid in comments, test names, messages and documents; CONTRIBUTING.md has the ones to use instead."""
import re

# A comment starts with its subject or a verb, never with a clause that has neither.
HEADLESS = re.compile(r"(What|Who|Whom|Whose|Whether|How|Where|When|Which|Why|Whoever|Whatever|Whenever|Wherever)\b")

NETWORK = r"""IP|IPv4|IPv6|DNS|loopback|socket|link-local|sanitizers?|memory|pointers?|mapp\w+|subnet|metadata|CIDR
  |private|public|name\ (?:server|service|lookup)s?|look(?:s|ed)?[ -]?ups?|resolv\w+|connect\w*|ports?|peers?|numeric
  |netmask|e-?mail|inet_\w+|streams?|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+|unicast|multicast
  |policy|blocked|lifetime|expiry|base\ address|address\ space
  |address(?:es)?\ of\ (?:a|the|its|one)\ host"""
COUNTED = r"objects?|queues?|lines?|connections?|requests?|downloads?|rows?|files|databases?|locks?|transfers?|one|two"
COUNTED += r"|three|times?|[0-9]+|bits|bytes|samples?|entries|slots?|attempts?|keys?"

# Each rule: the word to use instead, the pattern to find, and a pattern that
# excuses a match if it occurs within 100 characters.
BANNED = [
    ("image", r"pictur(?:es?|ed|ing)", r"multi-picture|pictures/"),
    ("URL", r"address(?:es)?", rf"(?x)\b(?:{NETWORK})\b"),
    ("response or reply", r"answer(?:s|ed|ing)?", r"DNS|resolver|name server"),
    ("request", r"ask(?:s|ed|ing)?", r"DNS|resolver|name server"),
    ("inform, notify or report", r"told(?! apart)|hears?|hearing|heard"
     r"|tells?(?! (?:[\w.'-]+ ){0,4}(?:to|that|which|whether|if|apart))", None),
    ("the fact itself", r"said|(?:server|host|site|proxy|cache|who|nobody)s? says?"
     r"|says? (?:nothing|no such)", None),
    ("request, preference or demand", r"wish(?:es|ed)?", None),
    ("must or will", r"shall", None),
    ("next to, besides or compared with", r"beside", None),
    ("is not one", r"(?<!there )(?:is|are|was|were) none", None),
    ("download, fetch or give", r"brings?|brought|bringing", None),
    ("a transfer or download", r"journeys?|on (?:its|their|the) way", None),
    ("until then, by then, or nothing", r"meanwhile", None),
    ("honor, or nothing", r"heed(?:s|ed|ing)?", None),
    ("in or during", r"amid", None),
    ("revalidate", r"renew(?:s|ed|al|ing)?", None),
    ("fresh", r"good enough", None),
    ("partially", r"by halves", None),
    ("this, or such", r"(?-i:such an?)", None),
    ("its own, or separate", r"of (?:its|their|his) own", None),
    ("bears", r"bears", None),
    ("again", r"anew|once more", None),
    ("also if, or nothing", r"also (?:where|when|if)", None),
    ("as it was", r"it is as it was", None),
    ("per", rf"(?:{COUNTED}) (?-i:an?) (?:host|line|row|file|source|image|item|entry|generation|pixel|directory|process"
     r"|connection|thread|sample)", None),
]

STEMS = """normal recogn initial serial organ synchron summar minim maxim parallel random special standard util custom
  canonical sanit token memor final author capital categor priorit material visual vector quant raster general equal
  local character stabil neutral apolog optim real"""
BRITISH = "|".join([
    r"(?:re|de|un)?(?:" + "|".join(STEMS.split()) + r")is(?:e[sdr]?|ing|ation|ations|ers)",
    r"(?:analys|emphasis|practis|paralys)(?:e[sd]?|ing)", r"(?:dis)?colour\w*",
    r"(?:hon|fav|neighb|behavi|lab|rum|harb|endeav|flav)our\w*", r"grey(?:s|ed|ish|scale)?",
    r"(?:cent|met|lit|fib|theat)re[sd]?", r"millimetres?|kilometres?", r"(?<!status )(?<!code )cancell(?:ed|ing|er)",
    r"(?:trav|lab|mod|sign|chann|lev|fu|pan|tunn|marsh)(?:ell|all)(?:ed|ing|er|ers)",
    r"licences?|defences?|offences?|pretences?", r"(?:cata|ana|epi)logues?|catalogued", r"artefacts?",
    r"judgements?|acknowledgements?", r"per cent", r"whilst|amongst|towards|afterwards|learnt|spelt|burnt",
    r"fulfils?|instals?|enrols?|skilful|wilful", r"programmes?|storeys?|tyres?|ageing|sceptic\w*|ploughs?|aeroplanes?",
])


def compiled(pattern):
    return re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.I)


PATTERNS = [(name, compiled(pattern), excuse and re.compile(excuse, re.I)) for name, pattern, excuse in BANNED]
PATTERNS_BRITISH = compiled(BRITISH)
SENTENCE_WHO = re.compile(r"(?:^|[.;:] +)(Who(?:ever)?)\b(?![^.]*\?)")


def plain(text):
    """Blanks code spans, quoted words, link targets, paths, options and variables without moving other characters."""
    def blank(match):
        return re.sub(r"[^\n]", "\0", match[0])

    text = re.sub(r"``[^`\n]*``|`[^`]*`|\"[\w.-]+\"", blank, text)
    return re.sub(r"\]\([^)]*\)|\w+://\S+|[\w.*<>{}-]*/[\w./*<>{}-]+|--[\w-]+|\$\w+|&\w+;", blank, text)


def find(text):
    """Yields kind, offset, word and hint for each banned word and British spelling in prose."""
    text = plain(text)
    flat = text.replace("\n", " ")
    for hint, pattern, excuse in PATTERNS:
        for start, end, word in matches(pattern, flat):
            if not (excuse and excuse.search(flat[max(0, start - 100):end + 100])):
                yield "banned word", start, word, hint
    for match in SENTENCE_WHO.finditer(flat):
        yield "banned word", match.start(1), match[1], "name the subject"
    for start, _, word in matches(PATTERNS_BRITISH, flat):
        yield "British spelling", start, word, "American spelling"


def matches(pattern, flat):
    """Yields start, end and text of each match; a run of spaces counts as one space."""
    positions = [match.start() for match in re.finditer(r"[^ ]| (?! )", flat)]
    squeezed = "".join(flat[position] for position in positions)
    for match in pattern.finditer(squeezed):
        yield positions[match.start()], positions[match.end() - 1] + 1, match[0]
