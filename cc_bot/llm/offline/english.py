"""English words made comparable: which of them carry meaning, and what they have in common.

No dictionary is used. Endings are cut, the commonest irregular forms are listed, and British spelling
becomes American; the result need not be a word, it only has to be the same for every form of one.
"""


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


FUNCTION_WORDS = _words(
    """
    a about actually again ago ah all also always am an and any anything are aren't as ask asked at be
    best because been before being but by can can't cannot could couldn't currently did didn't do does
    doesn't doing don't done earlier else ever every exactly for forget forgot from gonna got had hadn't
    has hasn't have haven't having he he's hello hey hi him his her hers how how's i i'd i'll i'm i've if
    in into is isn't it it'd it'll it's its itself just keep know known let let's many me mention mentioned
    might mind mine most much must my myself no not note now of off often oh ok okay on once one only or our
    ours out over please quite really recall remember remembered remind right said same say says she she's
    should so some something sorry still such tell than thank thanks that that's the their them then there
    there's these they they're thing things think this those to today told too um until up us very want
    wanted was wasn't we we're we've well were weren't what what's whats when when's where where's which
    who who's whose why will with won't would wouldn't wrong yes you you're your yours
    """
)

LIGHT_WORDS = _words(
    """
    call come favor favorit get give go kind like lik love make name need number own put sort take type
    use usual wear work
    """
)
"""Words that go with so many others that sharing one alone says little."""

_BASE_OF = {
    form: base
    for base, forms in {
        "be": "being",
        "begin": "began begun",
        "break": "broke broken",
        "bring": "brought",
        "build": "built",
        "buy": "bought",
        "child": "children",
        "choose": "chose chosen",
        "come": "came",
        "cost": "costs",
        "drink": "drank drunk",
        "drive": "drove driven",
        "eat": "ate eaten",
        "fall": "fell fallen",
        "feed": "fed",
        "find": "found",
        "fly": "flew flown flight flights",
        "foot": "feet",
        "get": "gets getting gotten",
        "give": "gave given",
        "go": "goes going went gone",
        "grow": "grew grown",
        "hide": "hid hidden",
        "hold": "held",
        "leave": "left leaves leaving",
        "lend": "lent",
        "lie": "lay lain lying",
        "lose": "lost",
        "make": "made",
        "marry": "married marries",
        "meet": "met",
        "park": "parked",
        "pay": "paid",
        "person": "people",
        "put": "puts putting",
        "read": "reads",
        "ride": "rode ridden",
        "run": "ran running",
        "see": "saw seen",
        "sell": "sold",
        "send": "sent",
        "sing": "sang sung",
        "sit": "sat",
        "sleep": "slept",
        "speak": "spoke spoken",
        "spend": "spent",
        "study": "studied studies studying",
        "swim": "swam swum swimming",
        "take": "took taken",
        "teach": "taught",
        "tooth": "teeth",
        "wake": "woke woken",
        "wear": "wore worn",
        "win": "won",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}

_ENDINGS = ("ingly", "edly", "ings", "ing", "ies", "ied", "ed", "es", "ly", "s", "y", "e")


def stem(word: str) -> str:
    """What the forms of one word share; `word` is case-folded."""
    word = word.removesuffix("'s").replace("'", "")
    word = _BASE_OF.get(word, word)
    if not word.isalpha() or len(word) < 4:
        return word
    american = word.replace("our", "or") if len(word) > 5 or word.endswith("our") else word
    if american.endswith("ss"):
        return american
    for ending in _ENDINGS:
        if american.endswith(ending) and len(american) - len(ending) >= 3:
            return _undouble(american.removesuffix(ending))
    return american


def _undouble(cut: str) -> str:
    """`stopp` (stopped) is `stop`, while `call` stays."""
    return cut[:-1] if len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "lsz" else cut


def same_family(one: str, other: str) -> bool:
    """Whether two stems look like relatives: a long common beginning and short ends (allerg-ic, allerg-y)."""
    if not (one.isascii() and other.isascii() and one.isalpha() and other.isalpha()):
        return False
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared >= 5 and max(len(one), len(other)) - shared <= 3
