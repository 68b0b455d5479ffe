from cc_bot.texts.area import Area, Sentence


class VoiceCheckTexts(Area):
    hearing = Sentence(ja="聞き取り", en="Transcription")
    speaking = Sentence(ja="読み上げ", en="Reading aloud")
    hearing_ok = Sentence(ja="{name} が音声を文字にします。", en="{name} transcribes voice messages.")
    hearing_none = Sentence(ja="CC_BOT_TRANSCRIBE_MODEL がないので、ボイスメッセージは聞き取りません。", en="CC_BOT_TRANSCRIBE_MODEL is not set: voice messages are not transcribed.")
    hearing_failed = Sentence(ja="{name} が音声を文字にしません。\n→ CC_BOT_TRANSCRIBE_URL（なければ OPENAI_BASE_URL）のサーバーと、モデル名、キーを確かめてください。", en="{name} does not transcribe speech.\n→ Check the server at CC_BOT_TRANSCRIBE_URL (or else OPENAI_BASE_URL), the model's name and the key.")
    speaking_ok = Sentence(ja="{name} が回答を読み上げます。", en="{name} reads answers aloud.")
    speaking_none = Sentence(ja="CC_BOT_SPEECH_MODEL がないので、回答は読み上げません。", en="CC_BOT_SPEECH_MODEL is not set: answers are not read aloud.")
    speaking_failed = Sentence(ja="{name} が読み上げません。\n→ CC_BOT_TRANSCRIBE_URL（なければ OPENAI_BASE_URL）のサーバーと、モデル名、キーを確かめてください。", en="{name} does not read aloud.\n→ Check the server at CC_BOT_TRANSCRIBE_URL (or else OPENAI_BASE_URL), the model's name and the key.")
