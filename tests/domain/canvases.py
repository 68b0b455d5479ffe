from hypothesis import strategies as st

from cc_bot.domain.chart import Chart, Series
from cc_bot.features.canvas.model import CanvasCommand, Card, Edit, RemoveElement, SetMode, Text, UpdateCard

KINDS = st.sampled_from(["line", "bar", "pie"])
KNOWN_IDS = st.sampled_from(["", "a", "b", "a-2", "card-1", "text-1", "chart-1", "天気", "A b", "-"])
IDS = KNOWN_IDS | st.text(max_size=40)
ODD_TEXTS = st.sampled_from(["牛乳", "x" * 101, "長" * 1001, "a\r\nb", "\u202eevil", "\ud800", " "])
TEXTS = st.text(max_size=12) | ODD_TEXTS
NUMBERS = st.floats(width=32) | st.integers(-5, 5).map(float)
LABELS = st.lists(st.sampled_from(["1月", "2月", "三", ""]), max_size=4).map(tuple) | st.just(("x",) * 25)
SERIES = st.lists(
    st.builds(Series, name=TEXTS, values=st.lists(NUMBERS, max_size=4).map(tuple)), max_size=7
).map(tuple)
COMMANDS: st.SearchStrategy[CanvasCommand] = st.one_of(
    st.builds(Card, title=TEXTS, content=TEXTS, id=IDS),
    st.builds(Card, title=st.just("t"), content=st.just("c"), id=IDS),
    st.builds(Text, content=TEXTS, title=TEXTS, id=IDS),
    st.builds(Chart, title=TEXTS, kind=KINDS, labels=LABELS, series=SERIES, id=IDS),
    st.builds(
        Chart,
        title=st.just("t"),
        kind=KINDS,
        labels=st.just(("x",)),
        series=st.just((Series("n", (1.0,)),)),
        id=IDS,
    ),
    st.builds(UpdateCard, id=IDS, title=st.none() | TEXTS, content=st.none() | TEXTS),
    st.builds(RemoveElement, id=IDS),
    st.builds(SetMode, mode=st.sampled_from(["list", "board", "focus"]), focus=IDS),
    st.just(SetMode("clear")),
)
VISIBILITIES = st.sampled_from(["public", "private"])
DRAWINGS = st.lists(st.builds(Edit, command=COMMANDS, visibility=VISIBILITIES), max_size=20)
