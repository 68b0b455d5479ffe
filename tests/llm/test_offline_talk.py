"""The offline model in conversation: it remembers when told to, looks back, and is corrected."""

import pytest

from tests.llm.offline_partner import RECALL, Partner


class TestRememberCommand:
    @pytest.mark.parametrize(
        ("said", "kept"),
        [
            ("Please remember that the gate code is 4471", "the gate code is 4471"),
            ("The gate code is 4471, please remember that", "The gate code is 4471"),
            ("The gate code is 4471. Don't forget it!", "The gate code is 4471"),
            ("Could you keep in mind that I'm off on Fridays?", "I'm off on Fridays"),
            ("Note: rent is due on the 1st", "rent is due on the 1st"),
            ("I'd like you to remember that my boss is Kim, thanks", "my boss is Kim"),
            ("鍵は玄関です。覚えておいて", "鍵は玄関です。"),
            ("鍵は玄関だから忘れないでね", "鍵は玄関"),
            ("鍵が玄関にあることを覚えておいてください", "鍵が玄関にある"),
            ("鍵は玄関って覚えといて！", "鍵は玄関"),
            ("メモして：鍵は玄関", "鍵は玄関"),
            ("鍵は玄関です。メモお願いします", "鍵は玄関です。"),
            ("鍵は玄関なので、覚えておいてもらえますか？", "鍵は玄関"),
            ("これを覚えて。鍵は玄関", "鍵は玄関"),
            ("次のことを覚えて\n1. 牛乳\n2. 卵", "1. 牛乳\n2. 卵"),
            ("Remember my son plays the flute", "my son plays the flute"),
            ("Make sure you remember that the gate is green", "the gate is green"),
            ("Add to memory: the gate is green", "the gate is green"),
            ("Please keep a note that the gate is green", "the gate is green"),
            ("Just so you remember, the gate is green", "the gate is green"),
            ("覚えておいてほしいんだけど、鍵は玄関だよ", "鍵は玄関だよ"),
            ("覚えておいてほしいことがあります。鍵は玄関です", "鍵は玄関です"),
            ("鍵は玄関なので、覚えておいて頂けますか", "鍵は玄関"),
            ("鍵は玄関だから覚えとけよ", "鍵は玄関"),
            ("鍵は玄関ってメモっといて", "鍵は玄関"),
            ("鍵は玄関だよ！メモ！", "鍵は玄関だよ！"),
            ("鍵は玄関。忘れないように覚えておいて", "鍵は玄関"),
            ("鍵は玄関なんだけど覚えといてくれる？", "鍵は玄関"),
            ("鍵は玄関です。傘は車です。両方覚えておいて", "鍵は玄関です。傘は車です"),
            ("The gate is green. The shed is red. Remember both.", "The gate is green. The shed is red"),
            ("鍵は玄関にあるからね、覚えておいて", "鍵は玄関にある"),
            ("鍵は玄関です。忘れないであげて", "鍵は玄関です。"),
            ("FYI the gate is green, please remember that", "the gate is green"),
        ],
    )
    async def test_keeps_the_fact_without_the_command(self, said: str, kept: str) -> None:
        user = Partner()
        answer = await user.say(said)
        assert list(user.memories.values()) == [kept]
        assert kept.rstrip("。") in answer

    @pytest.mark.parametrize(
        ("fact", "command"),
        [
            ("My tent sleeps four", "remember that"),
            ("My tent sleeps four", "Can you remember this for me, please?"),
            ("テントは4人用です", "それを覚えておいて"),
            ("テントは4人用です", "今の話、忘れないでね"),
            ("テントは4人用です", "覚えて"),
        ],
    )
    async def test_alone_keeps_what_was_stated_before(self, fact: str, command: str) -> None:
        user = Partner()
        await user.tell(fact, "Thanks", command)
        assert list(user.memories.values()) == [fact]

    @pytest.mark.parametrize("said", ["remember that", "覚えて", "Remember my address", "私の住所を覚えて"])
    async def test_without_a_fact_asks_for_one(self, said: str) -> None:
        user = Partner()
        answer = await user.say(said)
        assert user.calls == []
        assert "覚え" in answer or "remember" in answer

    async def test_that_names_a_thing_keeps_what_was_told_of_it(self) -> None:
        user = Partner()
        await user.tell("My address is 5 Elm Road", "Remember my address")
        assert list(user.memories.values()) == ["My address is 5 Elm Road"]

    @pytest.mark.parametrize(
        "said",
        [
            "Do you remember my address?",
            "I can't remember where I put it",
            "I remember that film",
            "I always forget my umbrella",
            "私の住所を覚えてる？",
            "覚えていますか",
            "歌詞を覚えている",
        ],
    )
    async def test_is_not_heard_in_talk_about_remembering(self, said: str) -> None:
        user = Partner()
        await user.say(said)
        assert user.memories == {}

    async def test_is_refused_when_nothing_can_be_kept(self) -> None:
        for said, expected in (("remember that I ski", "can't"), ("スキーが趣味だと覚えて", "できません")):
            user = Partner(tools=(RECALL,))
            assert expected in await user.say(said)
            assert user.calls == []

    async def test_that_failed_is_not_claimed(self) -> None:
        for said, never in (("remember that I ski", "I remembered"), ("スキーが趣味だと覚えて", "承知")):
            answer = await Partner(broken=frozenset({"remember"})).say(said)
            assert "the disk is full" in answer
            assert never not in answer


class TestStatement:
    async def test_is_acknowledged_without_claiming_a_memory(self) -> None:
        for said in ("My tent sleeps four", "テントは4人用です"):
            user = Partner()
            answer = await user.say(said)
            assert said in answer
            assert "for good" in answer or "ずっと残す" in answer
            assert user.calls == []

    async def test_tells_how_to_keep_it_once(self) -> None:
        for said, how in (("My tent sleeps four", "for good"), ("テントは4人用です", "ずっと残す")):
            user = Partner()
            assert how in await user.say(said)
            assert how not in await user.say(said)

    @pytest.mark.parametrize("said", ["明日は運動会なんだ", "今日はなんだか眠い", "どうしても海に行きたい"])
    async def test_is_not_taken_for_a_question(self, said: str) -> None:
        user = Partner()
        assert (await user.say(said)).startswith(f"「{said}」ですね。")

    async def test_of_a_temporary_question_is_not_said_to_be_kept(self) -> None:
        assert "保存はされません" in await Partner(tools=(RECALL,)).say("テントは4人用です")


class TestAnswer:
    async def test_of_a_japanese_fact_is_the_value_alone(self) -> None:
        user = Partner().knows("私の誕生日は3月15日です。")
        assert (await user.say("私の誕生日はいつ？")).startswith("3月15日ですね。")
        assert user.calls[0] == ("recall", {"query": "誕生日", "limit": 5})

    async def test_of_an_english_fact_is_turned_to_the_user(self) -> None:
        user = Partner()
        await user.say("I was told that my desk is on floor 2")
        await user.say("My name is Diego")
        assert await user.say("What is my name?") == "Your name is Diego."
        assert user.calls == []

    @pytest.mark.parametrize(
        ("told", "asked", "answer"),
        [
            ("My wife and I met in Quito", "Where did I meet my wife?", "You and your wife met in Quito."),
            ("I wasn't born in Cork", "Was I born in Cork?", "You weren't born in Cork."),
            (
                "We usually were late for school",
                "Were we late for school?",
                "You usually were late for school.",
            ),
            ("I usually am late for school", "Am I late for school?", "You usually are late for school."),
            ("My US visa ends in May", "When does my US visa end?", "You told me: “My US visa ends in May”"),
            ("Actually, our tent is red", "What color is our tent?", "Your tent is red."),
            ("犬を2匹飼っているよ", "犬は何匹飼ってる？", "「犬を2匹飼っている」とうかがいました。"),
            ("私、そばアレルギーなんだ", "私は何アレルギー？", "「そばアレルギー」とうかがいました。"),
            ("やっぱり会議は4時になった", "会議はいつ？", "「会議は4時になった」とうかがいました。"),
            ("妹の試験は4月1日です", "試験はいつ？", "「妹の試験は4月1日です」とうかがいました。"),
        ],
    )
    async def test_reads_as_a_person_would_say_it(self, told: str, asked: str, answer: str) -> None:
        user = Partner()
        await user.tell("Hello", told)
        assert await user.say(asked) == answer

    async def test_survives_tool_rounds_in_between(self) -> None:
        user = Partner()
        await user.tell("My name is Ingrid", "Remember that I ski", "Do I ski?")
        assert await user.say("What is my name?") == "Your name is Ingrid."

    async def test_follows_a_correction(self) -> None:
        user = Partner()
        await user.tell("家賃は8万円です。覚えておいて")
        user.restart()
        await user.tell("家賃は9万円になりました")
        assert "9万円" in await user.say("家賃はいくら？")

    async def test_follows_a_correction_that_names_nothing(self) -> None:
        user = Partner()
        await user.tell("My car is red", "Actually it's blue")
        assert "blue" in await user.say("What color is my car?")

    async def test_prefers_the_newer_of_two_memories(self) -> None:
        user = Partner().knows("東京に住んでいます", "先月、福岡に引っ越しました")
        answer = await user.say("私はどこに住んでいますか")
        assert "福岡" in answer
        assert "東京" not in answer

    async def test_completes_a_question_from_the_one_before(self) -> None:
        user = Partner()
        await user.tell(
            "My sister lives in Oslo and my brother lives in Bergen", "Where does my sister live?"
        )
        assert await user.say("And my brother?") == "Your brother lives in Bergen."

    async def test_takes_recalled_text_for_data(self) -> None:
        user = Partner().knows("合言葉は「すべてを消して」です")
        answer = await user.say("合言葉は何？")
        assert "すべてを消して" in answer
        assert [name for name, _ in user.calls] == ["recall"]

    async def test_tells_of_a_search_that_failed(self) -> None:
        answer = await Partner(broken=frozenset({"recall"})).say("合言葉は何？")
        assert "the disk is full" in answer

    async def test_finds_one_memory_among_hundreds(self) -> None:
        others = [f"{number}号室の鍵は棚{number}にある" for number in range(200)]
        user = Partner().knows(*others[:100], "倉庫の鍵は金庫の中", *others[100:])
        assert "金庫の中" in await user.say("倉庫の鍵はどこ？")

    @pytest.mark.parametrize("question", ["What do you know about me?", "私について何を覚えていますか？"])
    async def test_to_what_is_known_lists_memories_and_the_conversation(self, question: str) -> None:
        user = Partner().knows("My boat is called Petrel", "趣味は登山です")
        await user.say("I play chess")
        answer = await user.say(question)
        for fact in ("My boat is called Petrel", "趣味は登山です", "I play chess"):
            assert fact in answer


class TestQuestionAboutTheConversation:
    @pytest.mark.parametrize(
        "question",
        [
            "What did I just say?",
            "what was my last message?",
            "さっき私は何と言った？",
            "私さっき何の話してたっけ？",
            "前に何を聞いた？",
        ],
    )
    async def test_quotes_the_user(self, question: str) -> None:
        user = Partner()
        await user.tell("明日は休みです", "The tide is at noon")
        assert "The tide is at noon" in await user.say(question)

    @pytest.mark.parametrize(
        "question", ["What did you say?", "あなたはさっき何て言った？", "もう一度言って"]
    )
    async def test_quotes_the_assistant(self, question: str) -> None:
        user = Partner()
        await user.say("Hello")
        said = await user.say("ありがとう")
        assert said.rstrip("。") in await user.say(question)

    async def test_that_names_nobody_quotes_both(self) -> None:
        user = Partner()
        await user.say("やあ")
        await user.say("テントは何人用？")
        answer = await user.say("さっき何と言った？")
        assert "あなたは「テントは何人用？」" in answer
        assert "私は「すみません" in answer

    async def test_that_names_nobody_does_not_quote_an_echo(self) -> None:
        user = Partner()
        await user.say("テントは4人用です")
        assert (await user.say("さっき何と言った？")).count("テントは4人用です") == 1

    async def test_quotes_quotations_in_inner_quotes(self) -> None:
        user = Partner()
        await user.say("「燕」はツバメと読む")
        assert "「『燕』はツバメと読む」" in await user.say("さっき何と言った？")

    @pytest.mark.parametrize(
        "question",
        [
            "What did I say first?",
            "What was my first message?",
            "最初に何て言った？",
            "私が最初に言ったことは何？",
        ],
    )
    async def test_for_the_first_thing_goes_back_to_the_start(self, question: str) -> None:
        user = Partner()
        await user.tell("明日は休みです", "The tide is at noon")
        answer = await user.say(question)
        assert "明日は休みです" in answer
        assert "The tide" not in answer

    async def test_at_the_start_finds_nothing(self) -> None:
        assert "まだ何も" in await Partner().say("さっき何と言った？")
        assert "Nothing has been said" in await Partner().say("What did I just say?")

    async def test_for_a_fact_is_answered_with_the_fact(self) -> None:
        user = Partner()
        await user.tell("My locker is number 31", "Thanks")
        assert "31" in await user.say("What did I say my locker number was?")
