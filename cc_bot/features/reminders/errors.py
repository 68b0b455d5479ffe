from cc_bot.domain.errors import InputError

ReminderEditOutdated = InputError.define("ReminderEditOutdated", ja="このお知らせは、ページを開いたあとで変わりました。いまの内容を確かめて、もう一度保存してください。", en="This reminder has changed since you opened the page. Look at what it says now, then save again.")
EmptyReminder = InputError.define("EmptyReminder", ja="お知らせする内容が空です。何をお知らせするかを書いてください。", en="There is nothing to remind you of. Write what it is about.", fields="text")
ReminderTooLong = InputError.define("ReminderTooLong", ja="お知らせの内容は{limit}文字までです（今は{length}文字）。短くしてください。", en="A reminder holds up to {limit} characters (this has {length}). Please shorten it.", fields="text")
TooManySchedules = InputError.define("TooManySchedules", ja="お知らせは{limit}件までです。</remind list> で見て、要らないものを消してください。", en="There can be {limit} reminders at most. See </remind list> and delete what you no longer need.")
