from cc_bot.domain.errors import CcBotError


class PageError(CcBotError):
    ja = "ページを読めませんでした。少し待って、もう一度お試しください。"
    en = "The page could not be read. Please try again in a little while."


AddressRefused = PageError.define("AddressRefused", ja="この URL は開けません。開けるのは2,000文字までの http と https の URL だけで、空白やユーザー名、80 と 443 以外のポートを含むものは開けません。", en="This address can't be opened. Addresses must begin with http or https, use port 80 or 443, and have no spaces, no user name and at most 2,000 characters.")
AddressNotGiven = PageError.define("AddressNotGiven", ja="この URL は開けません。開けるのは、ユーザーのメッセージか、その返信先・転送元、この質問での検索結果にある URL だけです。読みたいときは、ユーザーに URL をはじめ（https）から貼ってもらってください。", en="This address can't be opened: it must appear in the user's messages, in what they replied to or forwarded, or in this turn's search results. To read it, ask the user to paste the whole address, beginning with https.")
AddressNotPublic = PageError.define("AddressNotPublic", ja="{host} は開けません。インターネットに公開されていない、内部のネットワークの場所です。", en="{host} can't be opened: it is in an internal network, not on the public internet.")
PageUnreachable = PageError.define("PageUnreachable", ja="{host} に接続できませんでした。URL が正しいか、確かめてください。", en="{host} could not be reached. Check whether the address is right.")
PageGarbled = PageError.define("PageGarbled", ja="{host} につながりましたが、サーバーの返事を読み取れませんでした。あとでもう一度お試しください。", en="{host} was reached, but the server's answer could not be read. Please try again later.")
PageTooSlow = PageError.define("PageTooSlow", ja="{host} から {seconds} 秒のうちにページが届きませんでした。あとでもう一度お試しください。", en="{host} did not send the page within {seconds} seconds. Please try again later.")
PageNotThere = PageError.define("PageNotThere", ja="{host} はこのページを返しませんでした（HTTP {status}）。ログインが要るページや、なくなったページは読めません。", en="{host} did not return this page (HTTP {status}). Pages that require signing in, or no longer exist, can't be read.")
PageTemporarilyUnavailable = PageNotThere.define("PageTemporarilyUnavailable", ja="{host} は、いまこのページを返せないようです（HTTP {status}）。あとでもう一度お試しください。", en="{host} can't return this page at the moment (HTTP {status}). Please try again later.")
TooManyRedirects = PageError.define("TooManyRedirects", ja="このページは {limit} 回を超えて別の URL に転送されるので、読むのをやめました。", en="This page redirects more than {limit} times, so it was not read.")
PageTooLarge = PageError.define("PageTooLarge", ja="このページは {limit} MB を超えているので、読めません。", en="This page is larger than {limit} MB, so it can't be read.")
PageKindRefused = PageError.define("PageKindRefused", ja="このリンクの先は、ページでも PDF などの文書でもないので、読めません。ファイルなら、ここに添付すると読めることがあります。", en="Only pages and documents such as PDFs can be read, and this link leads to neither. If it is a file, attaching it here may help.")
PageUnreadable = PageError.define("PageUnreadable", ja="このページには、読める文章が見つかりませんでした。", en="No readable text was found on this page.")
PageIsScan = PageError.define("PageIsScan", ja="リンクの先は文字のないスキャンの PDF なので、文章として読めません。ファイルをここに添付すると、はじめの数ページを画像として見ます。", en="This link leads to a PDF of scanned pages without text. If you attach the file here, its first pages are read as pictures.")
PageTooLong = PageError.define("PageTooLong", ja="このページは大きすぎるか、いま混み合っていて、時間内に読みきれませんでした。", en="This page could not be read in time: it is too large, or the bot is too busy right now.")
PageReaderBusy = PageError.define("PageReaderBusy", ja="ほかのページを読んでいて時間がかかり、このページを読む番が来ませんでした。少し待って、もう一度お試しください。", en="Other pages are still being read, so this page was not read in time. Please try again in a moment.")
PagesNotInstalled = PageError.define("PagesNotInstalled", ja="このボットは、まだウェブページを読めません。管理者が make pages で入れると、読めるようになります。", en="This bot can't read web pages yet. Its operator can add that with make pages.")
DocumentPagesNotInstalled = PageError.define("DocumentPagesNotInstalled", ja="リンクの先は PDF か Excel で、このボットはまだ読めません。管理者が make documents で入れると、読めるようになります。", en="This link leads to a PDF or Excel file, which this bot can't read yet. Its operator can add that with make documents.")
PagesNotConfined = PageError.define("PagesNotConfined", ja="このボットが動いているシステムではウェブページを安全に読めないため、開きませんでした。ボットの管理者にお知らせください。", en="This page was not opened: the system that this bot runs on can't read it safely. Please tell the bot's operator.")
SearchFailed = PageError.define("SearchFailed", ja="いまウェブ検索を使えません。検索せずに、わかる範囲で答えてください。", en="Web search does not work at the moment. Answer without it, as far as you can.")
SearchJsonOff = SearchFailed.define("SearchJsonOff", ja="検索サーバーが JSON での回答を許していないため、検索できません。ボットの管理者にお知らせください。", en="The search server does not let programs search (JSON is off). Please tell the bot's operator.")
