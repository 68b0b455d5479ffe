"""Names and descriptions of `/privacy`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrivacyCommandTexts:
    privacy: str
    privacy_description: str
    privacy_show: str
    privacy_show_description: str
    privacy_export: str
    privacy_export_description: str
    privacy_where: str
    privacy_where_description: str
    privacy_here_choice: str
    privacy_dm_choice: str
    privacy_erase: str
    privacy_erase_description: str


JA = PrivacyCommandTexts(
    privacy="プライバシー",
    privacy_description="あなたについて保存しているものを見る・受け取る・消す",
    privacy_show="表示",
    privacy_show_description="何をどれだけ、いつまで保存しているかを見ます",
    privacy_export="書き出し",
    privacy_export_description="保存しているもののすべてを、JSON ファイルで受け取ります",
    privacy_where="場所",
    privacy_where_description="どこで受け取るか（省略すると、ここで自分だけに見えます）",
    privacy_here_choice="ここ（自分だけに見えます）",
    privacy_dm_choice="DM",
    privacy_erase="消去",
    privacy_erase_description="保存しているものをすべて消します（消す前に確認します）",
)

EN = PrivacyCommandTexts(
    privacy="privacy",
    privacy_description="See, receive or erase what is stored about you",
    privacy_show="show",
    privacy_show_description="Show what is stored, how much, and for how long",
    privacy_export="export",
    privacy_export_description="Receive everything that is stored, as a JSON file",
    privacy_where="where",
    privacy_where_description="Where to receive it (here, seen by you alone, unless you choose)",
    privacy_here_choice="Here (only you see it)",
    privacy_dm_choice="DM",
    privacy_erase="erase",
    privacy_erase_description="Erase everything that is stored (you are asked first)",
)
