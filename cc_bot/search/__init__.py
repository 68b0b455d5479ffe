"""Memory search. Pure functions over text and counts, no I/O."""

from cc_bot.search.folding import fold
from cc_bot.search.query import Query, TermGroup, Wording, parse_query
from cc_bot.search.ranking import Candidate, Hit, Statistics, nearness, rank, saturation, term_weight
from cc_bot.search.terms import TERMS_VERSION, document_terms, listed_terms
from cc_bot.search.vectors import Embedder

__all__ = [
    "TERMS_VERSION",
    "Candidate",
    "Embedder",
    "Hit",
    "Query",
    "Statistics",
    "TermGroup",
    "Wording",
    "document_terms",
    "fold",
    "listed_terms",
    "nearness",
    "parse_query",
    "rank",
    "saturation",
    "term_weight",
]
