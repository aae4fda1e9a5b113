#!/usr/bin/env python3
"""Writes urls.jsonl: make-urls.py TESTDATA >urls.jsonl

TESTDATA is url/resources/urltestdata.json of the web platform tests (https://github.com/web-platform-tests/wpt); its
texts and bases for http and https are taken. What they stand for comes from Ada, another implementation of the URL
standard (`pip install ada-url`), without credentials and fragment. The texts of OTHERS are ours.
"""
import json
import re
import sys

import ada_url

OTHERS = """
"http:\\\\\\\\host\\\\path\\\\a.png"
"http:/host/a"
"http:host/a"
"http:///host/a"
"https:\\\\/host\\\\/a?b\\\\c#d\\\\e"
["\\\\ok.png","http://h/a/b"]
["\\\\\\\\other\\\\x","http://h/a/b"]
["//other/x","https://h/a/b"]
["/a\\tb\\nc\\rd","http://h/"]
["http:a","http://h/x/y"]
["http:/a","http://h/x/y"]
["http:\\\\a","http://h/x/y"]
["https:a","http://h/x/y"]
["?q","http://h/x/y?z"]
["#f","http://h/x/y?z"]
["","http://h/x/y?z#f"]
["..","http://h/x/y/z"]
[".","http://h/x/y/z"]
["../../../..","http://h/x/y/z"]
["./../a","http://h/x/y/z"]
["%2e%2e/a","http://h/x/y/z"]
["a/./b/../c/..","http://h/x/y/z"]
"http://h\\t/a"
"ht\\ntp://h/a"
"  http://h/a  "
"\\u0000\\u001fhttp://h/a\\u0001"
"http://u@v@w@h/a"
"http://a:b@c:d@h/"
"http://a:b:c@h/"
"http://:@h/"
"http://u:@h/"
"http://:p@h/"
"http://@h/"
"http://u%20v:p%2Fq@h/"
"http://user name:pa|ss@h/"
"http://127.0.0.1./a"
"http://127.0.0.1.:80/a"
"http://0x7f.1./a"
"http://1.2.3.4.5./"
"http://1.2.3./"
"http://256./"
"http://h:00000080/"
"http://h:65535/"
"http://h:65536/"
"http://h:/a"
"http://h:8a/"
"http://h: 80/"
"http://[::1]/"
"http://[::1]:81/"
"http://[0:0:0:0:0:0:0:1]/"
"http://[::127.0.0.1]/"
"http://[::ffff:1.2.3.4]/"
"http://[1:2:3:4:5:6:7:8]/"
"http://[1:2:3::8]/"
"http://[::1%25eth0]/"
"http://[:::1]/"
"http://[1::2::3]/"
"http://[::1"
"http://::1]/"
"http://[::1]a/"
"http://h/a|b{c}^d`e"
"http://h/[a]@b:c;d=e,f&g+h$i!j*k'l(m)n~o"
"http://h/%zz%4%%41%c3%a4"
"http://h/\\"<>\\\\"
"http://h/a?b'c\\"d<e>f`g|h{i}j^k[l]m\\\\n"
"http://h/?a=%zz&b=%41"
"http://h/ä?ö#ü"
"http://h/\\u007f\\u0080"
"http://h/a\\u0000b?c\\u0000d"
"http://h/\\ud83d\\udc1f"
"http://faß.example/"
"http://ΒΌΛΟΣ.example/"
"http://bücher.example/"
"http://BÜCHER.example/"
"http://bu\\u0308cher.example/"
"http://日本語。example/"
"http://xn--bcher-kva.example/"
"http://XN--BCHER-KVA.example/"
"http://☃.net/"
"http://ａｂｃ.example/"
"http://a\\u00adb.example/"
"http://a\\u200db.example/"
"http://☁️.example/"
"http://%41.example/"
"http://%C3%A4.example/"
"http://a%2eb.example/"
"http://a%2fb.example/"
"http://a b/"
"http://a<b/"
"http://a_b.example/"
"http://-a-.example/"
"http://a..b/"
"http://.a/"
"http://a./"
"http://a../"
"http://?a"
"http://#a"
"http://"
"http:"
"http:///"
"http://h?q?r#s#t"
"http://h#f"
"http://h\\\\@evil/"
"http://good@evil\\\\@x/"
"http://h/.%2E/%2e./%2E%2e/a"
"http://h/..a/.../a../.a"
"http://h/a/../b/./c/.."
"http://h//../a"
"http://h/a//..//b"
"HTTPS://H.EXAMPLE:443/A"
"http://h:443/"
"https://h:80/"
"http://0/"
"http://0x/"
"http://0x100000000/"
"http://4294967295/"
"http://4294967296/"
"http://1.2.3.08/"
"http://1.2.3.0x/"
"http://a.1/"
"http://a.0x1/"
"http://a.0x1g/"
"http://a.1b/"
"http://１.２.３.４/"
"http://h/;a/b;c=d/.;e"
"http://h/a%00b"
"http://h/%2F%5C%3F%23"
"""


def expected(text, base):
    """The URL; None if there is none, and False for a URL that is neither http nor https."""
    try:
        url = ada_url.URL(text, base) if base else ada_url.URL(text)
    except ValueError:
        return None if base or re.match("[\0-\x20]*https?:", text, re.IGNORECASE) else False
    if url.protocol not in ("http:", "https:"):
        return False
    url.hash = url.username = url.password = ""
    return url.href


def rows():
    for row in json.load(open(sys.argv[1], encoding="utf-8")):
        if isinstance(row, dict):
            yield row["input"], row.get("base") or ""
    for line in OTHERS.strip().splitlines():
        value = json.loads(line)
        yield tuple(value) if isinstance(value, list) else (value, "")


def main():
    seen = set()
    for text, base in rows():
        base = base if base.startswith("http") else ""
        # JSON can hold half of a surrogate pair, which is no text.
        if (text, base) in seen or re.search("[\ud800-\udfff]", text):
            continue
        seen.add((text, base))
        url = expected(text, base)
        if url is not False:
            print(json.dumps([text, base, url]))


main()
