"""Kinsoku: what a line of Japanese neither begins nor ends with.

Japanese writes no spaces, so a line may end nearly everywhere, but not before what closes or lengthens, nor
after what opens (JIS X 4051; Requirements for Japanese Text Layout of the W3C, 3.1.7 and 3.1.8).
"""

from typing import Final

SOUNDS: Final = (
    "ーゝゞヽヾ々〻ぁぃぅぇぉっゃゅょゎゕゖァィゥェォッャュョヮヵヶㇰㇱㇲㇳㇴㇵㇶㇷㇸㇹㇺㇻㇼㇽㇾㇿｧｨｩｪｫｬｭｮｯｰﾞﾟ"
)
"""What belongs to the character before it."""
NEVER_FIRST: Final = SOUNDS + "、。，．」』）〕］｝〉》】〙〗｣｡､"
"""What no piece of prose starts with."""
NOT_FIRST_IN_LINE: Final = NEVER_FIRST + "・：；！？‼⁇⁈⁉…‥—―–〜～゛゜％‰℃′″”’!?.,:;)]}%"
"""What no line starts with that goes on from another one."""
NEVER_LAST: Final = "（〔［｛〈《「『【〘〖｢“‘([{＃＠￥＄£€$#@"
"""What no piece of prose ends with."""
