"""Notes of one user, searched as a store does it: all of them are candidates."""

from collections import Counter

from cc_bot.features.memory.search.folding import fold
from cc_bot.features.memory.search.ranking import Candidate, Statistics, rank
from cc_bot.features.memory.search.terms import count_terms, parse_query


def candidate(id_: int, content: str) -> Candidate:
    terms = count_terms(content)
    return Candidate(id_, fold(content), terms, sum(terms.values()))


def found(query: str, *contents: str) -> list[str]:
    """The notes that answer the query, best first; the last of them is the newest."""
    notes = [candidate(id_, content) for id_, content in enumerate(contents)]
    frequency = Counter(term for note in notes for term in note.term_counts)
    average = sum(note.length for note in notes) / len(notes)
    hits = rank(parse_query(query), Statistics(len(notes), average, frequency), notes)
    return [contents[hit.id] for hit in hits]
