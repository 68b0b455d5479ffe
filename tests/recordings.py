"""Recordings: real ones that FFmpeg made, and ones of any length, put together by hand."""

import base64
import io
import struct
import wave
from typing import Final

from tests.loopback.discord import File

_BY_FFMPEG: Final = {
    "ogg": (
        "PiJRS00IC200000008jFho%4k001h>C(!{DPjGc}NM&JU0RcDxfV%(y0000_XJ=CY00000000000Px6%rU3u|0OK!}?E"
        "yAVaCLK3VP|s<0000?VRmLVGA=PPE-^4N0RR916#xJLWo~0{WMy(aOks9rHZm?TGA=PNGEZk`Qvd{bIRF3v0002+$cLr"
        "^0000d7Oor+4HXj-5EBp&5DpU(5fKs(2!r_o&>a2hN&W#pzzD1|or;()Us}pgk3;Duxec&xG(ZTY2r%Sb``^oT1Dczi*"
        "0@F0dI+Tv@OLt*TuZH{VSXCz^Von0r4jIVGOAvW)KLy}Q|-D4r6D6m)lz-Q;=kXUFn!=ZkH83}5%701s$5T#&?81+T96"
        "2(2r%Sb``)bqI1W?uN(iMT;63Ycuo=5V+%lH#=m@0|@OLt*Ua7aFp+|iPr6D6m)lz-Q;=r5c1mW33+)N0i5%701s$4Tv"
        "_k)`&G0>a%2&ED5cQUG8rX;x-m`m}OfC!}sFyvkPh>Z?)P-G4Ychd-^5%701s$NpaLH36SNvnxC2nJz(LN~7kF8?^SN*"
        "K@"
    ),
    "m4a": (
        "0000SW^{RQO*BCu00062O*BCuX>)IFX>)Hf00008W^!d^00074ZDe6|-U0wjVRmCSGA=SWE-^4N00NMnCyK1+^v~bgYU"
        "QMhNg_xBLPA19LPA1PgyB)@AA0T#ih_ZSn+66%idjvYH!QNtEV9civdb*8%Pg|XEV9civdb*8%Pg|XEV9civdb*8%Pg|"
        "XEV9civdb*8%P#=}l-h}PWV*7QSx%q-oBzM#t|qmwAODO0zvHeobB`bYi~nEWt#NZz|M`FR|4y%qa2~fa+{d1Ik0p;tz"
        "6CdO&4b9vI%8s|dU@WScc-1{=X!Nc#wvAA+tcj1xc24g>zlu9w#=Do=_0pp6}m{R&|s3Jf=*oqyb@HXNi6P_^_+xA)C>"
        "$r7#MZpM7RMU?+YSVdE&o6@qg#_dDPaecO<zcao8DyzT_YHFmxrcm>WKTGJG}%xDWgQ@4O-ZfD`URC&OVr@Pqs|27Lhk"
        "4gv02AI2+x3<fZfiwFgH0RArt!v-@a|K+d$;pbZ8S;xQ6{eIQYx5w?{_4UVN=#cZ?Z#<rVqhTaIjOT6O@MqD3>GXO;Qi"
        "xyIhl65(f~46<g~G}Jp)dxX0YEPc$}4|A-~U}+u3VBy5=f91{1R)sFfINP2}nlHz)J8*uIxERxeawkDDO$GMg<-68tSk"
        "p?~vD2aUJpts=!Blhq|mWj`<IDSOZ@n%B&L|@*Jw*0ZuOq%2PY9X{)=ENhFCRL7e7=^pkntHizB!hvCw1In4?kCiA{%T"
        "uC<3%?pVQv~xn^q}xxL7af_lpAfj{ZKvRc$3tyCm~%RI+I=MBpxPfvIO+HR00R?kZ*O)0003-lc4%Y(0000000000000"
        "0000Za%00Arj0RR920000000000000000RR910000000000000000RR9100000000000000$00000000000000000000"
        "0000000000000000006200KR9a$#!#003NcYiMKu000930000000000000310000000Arj000000000000032000000R"
        "R910000000000000000RR9100000000000000$000000000000000001OqWOQ=?0010iY;$w~000000003100Arj00aO"
        "40RR9100FgaWNBdl001CuWN2gn00000000000000006u^K02aVi!~g&Q001p$WNdN(000000001UZ*^_}00000000000"
        "000}Z*^{DNMUYdY-Mr)0004CZE0?10000Gb8Tp300000000000000aWNB_@0000SWO8L@00000000010000Cb#iPV000"
        "010003bb97>C0001Lb98fL000000000100015ZE!SU000000000100000000000096H00000K7arK0000sWpiY600000"
        "1Au^lB>({c1b~2m7eEyN00000GQ9u*GQ9<WfPe)Q2v+3)27rKo0RjL303dU8baMaz0000000IC200jU51ONa4009610>"
        "A(O03364b7KGi00000009610096100sa60096104#HKb9w*(000000000000sa60CE5T0FVFx08#(|089V?09XJ309OD"
        "202Fg{V{ZTe000000096104x9i02*^=aAW}h0044tY-|7k00IC200IC10000Sb7E(300000a&K&G0000100006000010"
        "001Db!2p500015ZDn*}000000000XXk=`10000000000ZDeV3VQ_G4000000000000000Eop3XbN~PVC8>08ZvX%Q9b{"
        "p2VE_OC0RR9108C+aW;QY|F)}VOFfs"
    ),
    "webm": (
        "8b#lupF)O#0YdkI0YdVD1VZzH2ttB{cV%L2LWh9_LWO|>7*l{}0RR910009y5lx$Px=p)_Q>%m(NvUR2tbw6TyNgq+gc"
        "ek;Yg4R&*iE~PQ>%m$RKsUetbzeTO}mU!tArd=yK7Udf&(M$0RR91000140000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000002N88X0j^Rv4amnK"
        "uv&+Oks9rHZm?TGA=PNGFL&3Oks9rHZm?TGA=PNGDL}pKyyF<000007F4cl<*oq$0000009@CB0dvKO2x$TH%7{i6oPh"
        "u$wVZ=>Ze)mo0EUJ^Ur$g~Q&y^jV=kapyMzS9v;c#F0^yOLfdRFMK<97(00000Vq}33W1^E!aCLJ?Wnp9i0XPAGy8r+H"
        "000tH!)MrYbD(3ufM>{>MWcsBPD4*bMN&kEjZ9&7W;QY|F)}VOFfwy<vSYxDW5tLFX#w-fh(;G@$e~4}h(uLVK~zakPD"
        "F>3FfckWFgh?WE;BGVFfcGMFfafgL$-B6e&>Mzqmh9C0DuUC`2x@!{pv~n0YAW_nSlTmfC#KIor;()Us}pgk3;Duxec&"
        "xG(e-5fdDCh2&D)x<X!vU%XI^qo1NCUMb&zvmVp30fC!}#@OLt*TuZH{VSXCz^Voo+lz{+IfC!}#@OLt*UXRpK4s=uPx"
        "}%qY0A+v(r6D6m)lz-Q;=kXUFn!=ZkHDjpfdF}c2&ED5cQUG6Pm|CiMqyfzqmzLEjerQH2r%Sb``)bqI1W?uN~4s40HJ"
        "^gr6u4!>v6CdyF}bFmhR}Il7RrVfC!}#@OLt*Ua7aFp+|kAmw^DufC!}_BSzIyeaYg$o8|=J*+bk+qn3dH-GB(C5%701"
        "s$4Tv_k)`&G0>a%qm_XG@qh@W5%701s$QlfxfqyB@t1(3m4N{TfC!}sFyvkPh>Z?)P-G4YchjSmfdLtS2&ED5cQUG8Qp"
        "iE}hX+Zki8!F2p_73DEdU4xVSYk4uLUmuIJHU`(3^n=b)tj-&Hi8<Q@d-CyN|Ph0Jn<wfdTP?0iW=J0{"
    ),
    "mp3": (
        "NklUQ0000003%dWQ$+v(01p5F159CdW;QY|F)}VOFfsrD00000000000RQt?zyJUM00000002pDW^Vuh01p5F01E&B0z"
        "d#@U|?WiU|?WiaBy&NaBy&NaDae-fPjF2fPj#YkdTm&kdTm|prD|jprD|ju&}VOu&}VOu)x5;z`(%3z`)SZ(9qD((9qD"
        "};Nalk;Nalk@bK{P@bK{P@c;k+|NsC0|Nj60002y3c4hzo0000000000000000000a1Hb?P000000zi7ng&qI^000000"
        "00000RQtC!~g_nQp90H0006|?(XmUA{B5jF=7x9IjkQ_%D4ags{ivC#03TbYRCbYNCB_!@o6QXZh--b4P3eymEJMD3P="
        "8tk^l1;!~_MfUX&r!003BkfdJrdfC2Xu4U`(BHc|FfM)f9~3;**N!~_MfUU&cjxFrEB2!t?WuhFN)3kw!4OIwRsTGr}H"
        "-~aO%!~_MvVt4=mcpybr1_lh5<Tc=^vud0W1Zz=y9jlW^hyU{!!~_NaUT^>ccqQJ&zC0K;*Z@wb5GO!b;Grp`w<`Xq(E"
        "sxo!~+FzT6_QjxFu+dA`1h|f1x!nb#+EU;0FRKGTyGtK>za?!~_LUT6_Qicp+=RLKQJ~{Lo@l0xrVgyRrqU5WxSm&HwW"
        "l#03QqTBPAr00GH>_5dk}1$Pv=Oj2c&cB(EH3`@Hg$p7;g#0Li8V!Q#9U;qgY#hw82CBxCh&-+W4N*pQ*v%#uNLI3j@!"
        "~y^S14seD002!zGcGYOFsiDms;a80s;a80s;a80ss"
    ),
}
"""Three tenths of a second of a tone of 440 Hz, in base 85."""


def by_ffmpeg(kind: str) -> bytes:
    return base64.b85decode(_BY_FFMPEG[kind])


def wav(seconds: float, *, rate: int = 8000) -> bytes:
    """Silence."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(rate)
        sound.writeframes(b"\x80" * round(seconds * rate))
    return file.getvalue()


def ogg(seconds: float, *, content: bytes = b"") -> bytes:
    """A voice message as Discord has it, Opus in Ogg; `content` makes one differ from another."""
    skipped = 312
    head = b"OpusHead" + struct.pack("<BBHIHB", 1, 1, skipped, 48_000, 0, 0)
    return (
        _page(2, 0, 0, head)
        + _page(0, 0, 1, b"OpusTags" + struct.pack("<II", 0, 0))
        + _page(4, round(seconds * 48_000) + skipped, 2, content or bytes(20))
    )


def _page(kind: int, granule: int, number: int, content: bytes) -> bytes:
    sizes = bytes([255] * (len(content) // 255) + [len(content) % 255])
    head = struct.pack("<4sBBQIIIB", b"OggS", 0, kind, granule, 1, number, 0, len(sizes))
    return head + sizes + content


def voice(seconds: float = 3.0, said: str = "") -> File:
    """A voice message as Discord's clients send it; what is `said` makes it another one."""
    data = ogg(seconds, content=said.encode())
    return File("voice-message.ogg", data, "audio/ogg", duration_s=seconds)


def mp3(seconds: float, *, tag: bytes = b"") -> bytes:
    """Frames of silence, MPEG 1 layer 3 of 32 kbit/s at 48 kHz; each lasts 24 ms."""
    return tag + (b"\xff\xfb\x14\x00" + bytes(92)) * round(seconds / 0.024)


def m4a(seconds: float, *, handler: bytes = b"soun") -> bytes:
    header = _box(b"mvhd", struct.pack(">IIIII", 0, 0, 0, 1000, round(seconds * 1000)) + bytes(80))
    track = _box(b"trak", _box(b"mdia", _box(b"hdlr", bytes(8) + handler + bytes(13))))
    return _box(b"ftyp", b"M4A \0\0\0\0") + _box(b"mdat", bytes(40)) + _box(b"moov", header + track)


def _box(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(content), name) + content


def webm(seconds: float, *, track_type: int = 2, told: bool = True) -> bytes:
    """With its duration told, or as browsers record it: without."""
    info = _element("2ad7b1", struct.pack(">I", 1_000_000))
    info += _element("4489", struct.pack(">d", seconds * 1000)) if told else b""
    track = _element("ae", _element("83", bytes([track_type])))
    cluster = _element("e7", struct.pack(">I", round(seconds * 1000))) + _element("a3", bytes(20))
    segment = _element("1549a966", info) + _element("1654ae6b", track) + _element("1f43b675", cluster)
    return _element("1a45dfa3", _element("4282", b"webm")) + _element("18538067", segment)


def _element(name: str, content: bytes) -> bytes:
    return bytes.fromhex(name) + struct.pack(">I", 0x10000000 | len(content)) + content
