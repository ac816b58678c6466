"""Damaged texts: what people, editors and transfers make of a file."""

from random import Random

ODD = [
    *("?", "0", "-1", "1.5", "1e9", "99999999999999999999", "End", "#", "{", "]", "[[", "(", ")", "'", "²", "\x00"),
    *("\u2028", "null", "true", "x", "M_", ":=", ";", ",", "\r", "\t", "v", "Move", "Set A 2 2", "🧩", "ip:=[[1,2]];"),
    "Illegal CORNER 1 2",
]


def mutated(text: str, random: Random) -> str:
    """The text with one to four changes: words or lines left out, doubled, exchanged, replaced, and cuts."""
    for _ in range(random.randint(1, 4)):
        text = random.choice([_words, _lines, _characters, _numbers])(text, random)
    return text


def _words(text: str, random: Random) -> str:
    separator = random.choice([" ", ",", "\n", '"', ";"])
    return separator.join(_changed(text.split(separator), random))


def _lines(text: str, random: Random) -> str:
    return "\n".join(_changed(text.split("\n"), random))


def _changed(parts: list[str], random: Random) -> list[str]:
    one, other = random.randrange(len(parts)), random.randrange(len(parts))
    change = random.randrange(6)
    if change == 0:
        del parts[one]
    elif change == 1:
        parts.insert(one, parts[other])
    elif change == 2:
        parts[one], parts[other] = parts[other], parts[one]
    elif change == 3:
        parts[one] = random.choice(ODD)
    elif change == 4:
        parts.insert(one, random.choice(ODD))
    else:
        del parts[one:other]
    return parts


def _characters(text: str, random: Random) -> str:
    place = random.randrange(len(text) + 1)
    change = random.randrange(4)
    if change == 0:
        return text[:place]
    if change == 1:
        return text[:place] + text[place + 1 :]
    if change == 2:
        return text[:place] + random.choice(ODD) + text[place:]
    return text[:place] + random.choice(ODD) * 50 + text[place:]


def _numbers(text: str, random: Random) -> str:
    places = [place for place, character in enumerate(text) if character.isdigit()]
    if not places:
        return text
    place = random.choice(places)
    return text[:place] + random.choice("0123456789") + text[place + 1 :]
