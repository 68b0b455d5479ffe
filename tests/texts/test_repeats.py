"""A repeat in words, in each language."""

import pytest

from cc_bot.domain import Locale
from cc_bot.texts import texts
from cc_bot.texts.repeats import described


class TestRepeat:
    @pytest.mark.parametrize(
        ("repeat", "japanese", "english"),
        [
            ("0 8 * * *", "毎日 8:00", "every day at 8:00"),
            ("5 8,20 * * *", "毎日 8:05・20:05", "every day at 8:05 and 20:05"),
            ("0 9 * * 1-5", "平日 9:00", "every weekday at 9:00"),
            ("0 9 * * MON-FRI", "平日 9:00", "every weekday at 9:00"),
            ("0 10 * * 0,6", "毎週土・日曜 10:00", "every Saturday and Sunday at 10:00"),
            ("0 10 * * 6,7", "毎週土・日曜 10:00", "every Saturday and Sunday at 10:00"),
            ("30 7 * * 0,1,3", "毎週月・水・日曜 7:30", "every Monday, Wednesday and Sunday at 7:30"),
            ("0 9 * * 1#2", "毎月第2月曜 9:00", "every 2nd Monday of the month at 9:00"),
            ("0 9 * * 5L", "毎月最後の金曜 9:00", "every last Friday of the month at 9:00"),
            ("0 9 3 * *", "毎月3日 9:00", "on the 3rd of every month at 9:00"),
            ("0 9 1,15 * *", "毎月1日・15日 9:00", "on the 1st and 15th of every month at 9:00"),
            ("0 9 L * *", "毎月末日 9:00", "on the last day of every month at 9:00"),
            ("0 0 1 1 *", "毎年1月1日 0:00", "every year on January 1st at 0:00"),
            ("0 * * * *", "1時間ごと", "every hour"),
            ("15 * * * *", "毎時15分", "every hour, 15 minutes past"),
            ("0 */3 * * *", "3時間ごと", "every 3 hours"),
            ("every 6h", "6時間ごと", "every 6 hours"),
            ("every 1h", "1時間ごと", "every hour"),
            ("0 9 1-7 * 1", "cron「0 9 1-7 * 1」の時刻", "at the times of cron “0 9 1-7 * 1”"),
            ("15 */3 * * *", "cron「15 */3 * * *」の時刻", "at the times of cron “15 */3 * * *”"),
            ("0 9 LW * *", "cron「0 9 LW * *」の時刻", "at the times of cron “0 9 LW * *”"),
            ("0 9 1/5 JAN *", "cron「0 9 1/5 JAN *」の時刻", "at the times of cron “0 9 1/5 JAN *”"),
        ],
    )
    def test_is_told_as_people_say_it(self, repeat: str, japanese: str, english: str) -> None:
        assert described(repeat, texts(Locale.JA)) == japanese
        assert described(repeat, texts(Locale.EN)) == english
