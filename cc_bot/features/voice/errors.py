from cc_bot.domain.errors import InputError, TurnError

RecordingRefused = InputError.define("RecordingRefused", ja="この音声は受け付けられませんでした。録音し直すか、文字で送ってください。", en="This recording was not accepted. Please record it again, or type it.")
NothingTranscribed = InputError.define("NothingTranscribed", ja="🎤 何も聞き取れませんでした。もう一度録音するか、文字で送ってください。", en="🎤 I couldn't hear anything. Please record it again, or type it.")
HearingFailed = TurnError.define("HearingFailed", ja="🎤 今は音声を聞き取れません。少し待ってもう一度送るか、文字で送ってください。", en="🎤 I can't listen right now. Please send it again in a moment, or type it.")
HearingNotSetUp = HearingFailed.define("HearingNotSetUp", ja="🎤 音声を聞き取る設定に問題があります。ボットの管理者にお知らせください。それまでは文字で送ってください。", en="🎤 Listening is not set up correctly. Please tell the bot's operator, and type your messages until then.")
