import struct
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cc_bot.chat.context import recordings
from cc_bot.chat.context.attachments import MAX_IMAGE_BYTES, get_max_bytes, read_attachment
from cc_bot.chat.context.recordings import probe_audio
from cc_bot.domain.errors import AttachmentTooLarge, CcBotError, RecordingEmpty, RecordingTooLong
from cc_bot.features.voice.speech import is_silence_artifact
from tests.domain.phrases import phrases
from tests.recordings import by_ffmpeg, m4a, mp3, ogg, wav, webm

MADE: dict[str, Callable[[float], bytes]] = {
    "audio/ogg": ogg,
    "audio/wav": wav,
    "audio/mpeg": mp3,
    "audio/mp4": m4a,
    "audio/webm": webm,
}
TAG = b"ID3\x04\x00\x00\x00\x00\x02\x01" + bytes(257)


class TestARecording:
    @pytest.mark.parametrize(
        ("kind", "content_type"),
        [("ogg", "audio/ogg"), ("m4a", "audio/mp4"), ("webm", "audio/webm"), ("mp3", "audio/mpeg")],
    )
    def test_of_a_real_encoder_is_known_with_its_length(self, kind: str, content_type: str) -> None:
        sound = probe_audio(by_ffmpeg(kind))
        assert sound is not None
        assert sound.content_type == content_type
        if kind != "webm":  # which tells no length
            assert sound.seconds == pytest.approx(0.3, abs=0.15)  # encoders fill the last frame

    @pytest.mark.parametrize("content_type", [kind for kind in MADE if kind != "audio/webm"])
    @given(seconds=st.floats(0.2, 90))
    def test_of_any_length_is_measured(self, content_type: str, seconds: float) -> None:
        sound = probe_audio(MADE[content_type](seconds))
        assert sound is not None
        assert sound.content_type == content_type
        assert sound.seconds == pytest.approx(seconds, abs=0.03)

    def test_with_a_tag_before_it_or_written_as_it_came_is_measured(self) -> None:
        unended = ogg(3).replace(b"OggS\0\x04", b"OggS\0\0")
        streamed = wav(3).replace(struct.pack("<I", 24_000), b"\xff" * 4)
        for data, seconds in (
            *(
                (mp3(3, tag=TAG), 3),
                (unended, 3),
                (ogg(3) + b"OggS\0", 3),
                (streamed, pytest.approx(3, abs=0.01)),
            ),
        ):
            sound = probe_audio(data)
            assert sound is not None
            assert sound.seconds == seconds
        assert read_attachment("a", m4a(0)).seconds == 0  # one that does not tell its length

    @pytest.mark.parametrize(
        "data",
        [
            webm(3, codec=b"V_VP9"),
            m4a(3, handler=b"vide"),
            m4a(3, handler=b"text"),
            b"OggS",
            b"OggS" + bytes(60),
            b"RIFF\0\0\0\0WAVE",
            b"ID3\x04" + bytes(100),
            b"\0\0\0\x18ftypheic" + bytes(100),
            b"\x1aE\xdf\xa3" + bytes(100),
            b"\xff\xd8\xff\xe0" + bytes(100),
            b"\xff\xfb" + b"\xff" * recordings.MAX_BYTES,  # half a minute of looking, if nothing ended it
            "録音のメモ".encode(),
            "ＵＴＦ１６".encode("utf-16"),
            b"",
        ],
    )
    def test_is_no_film_and_no_other_file(self, data: bytes) -> None:
        assert probe_audio(data) is None

    @pytest.mark.parametrize("content_type", MADE)
    @given(cut=st.integers(0, 400), at=st.integers(0, 300), junk=st.binary(max_size=40))
    def test_that_somebody_broke_breaks_nothing(
        self, content_type: str, cut: int, at: int, junk: bytes
    ) -> None:
        whole = MADE[content_type](2)[:2000]
        broken = whole[:at] + junk + whole[at + len(junk) : len(whole) - cut]
        try:
            read = read_attachment("a", broken)
        except CcBotError:
            return
        assert read.seconds >= 0


class TestWhatIsAttached:
    def test_of_no_length_is_refused_and_may_last_twenty_minutes_and_have_25_mb(self) -> None:
        for make in (ogg, wav):  # in the others 0 means that nobody knows
            with pytest.raises(RecordingEmpty):
                read_attachment("a", make(0))
        for encode in (ogg, m4a):
            assert read_attachment("a", encode(20 * 60)).seconds == 20 * 60
            with pytest.raises(RecordingTooLong):
                read_attachment("a", encode(60 * 60))
        data = ogg(60).ljust(recordings.MAX_BYTES, b"\0")
        assert read_attachment("a", data).is_recording
        with pytest.raises(AttachmentTooLarge):
            read_attachment("a", data + b"\0")
        claims = (("audio/ogg", "voice-message.ogg"), ("video/webm", "a.webm"), (None, "a.mp3"))
        assert {get_max_bytes(claimed, name) for claimed, name in claims} == {recordings.MAX_BYTES}
        assert recordings.MAX_BYTES > MAX_IMAGE_BYTES


class TestSilence:
    MADE_UP = phrases(
        """
ご視聴ありがとうございました | ご視聴ありがとうございました。ご視聴ありがとうございました！
最後までご視聴いただきありがとうございました。 | Thank you for watching.
Thanks for watching! Please subscribe. | THANK YOU FOR WATCHING | Subtitles by the Amara.org community
you | [BLANK_AUDIO] | (音楽) | ♪♪♪
"""
    )
    SAID = phrases(
        """
ありがとう | ご視聴ありがとうございました、は英語で何と言いますか？ | Are you there? | 犬
How do I say thank you for watching in Japanese?
"""
    )

    def test_is_told_from_what_somebody_says(self) -> None:
        made_up = ["", " 。… \n", *self.MADE_UP]
        assert [
            text for text in made_up if not (is_silence_artifact(text, 3) and is_silence_artifact(text, 300))
        ] == []
        assert [text for text in self.SAID if is_silence_artifact(text, 3)] == []
        assert is_silence_artifact("ご視聴ありがとうございました" * 2, 40)
        assert not is_silence_artifact("ご視聴ありがとうございました" * 20, 60)  # much in much time
