from cc_bot.texts.area import Area, Sentence


class DocumentCheckTexts(Area):
    documents = Sentence(ja="文書", en="Documents")
    sandbox = Sentence(ja="読み取りの隔離", en="Sandbox for reading")
    documents_ok = Sentence(ja="PDF・Excelなどの文書を読めます。", en="Documents such as PDF and Excel files can be read.")
    documents_none = Sentence(ja="WordやPowerPointは読めます。PDFとExcelも読むには make documents。", en="Word, PowerPoint and similar files can be read. `make documents` adds PDF and Excel.")
    documents_failed = Sentence(ja="文書を読めません。\n→ make documents で入れ直してください。それまでは、読めない文書は断ります。", en="Documents can't be read.\n→ Install the extra again with `make documents`. Until then such files are refused.")
    sandbox_ok = Sentence(ja="文書とウェブページは、ファイルにもネットワークにも触れられないプロセスで読みます。", en="Documents and web pages are read in a process that can reach neither files nor the network.")
    sandbox_none = Sentence(
        ja="このシステムでは、読み取りのプロセスを隔離できません（seccomp が使えません）。文書とウェブページは読みません。\n→ Linux（x86-64 か ARM64）で動かすか、隔離なしで読んでよければ CC_BOT_READ_UNCONFINED=on にしてください。",
        en="This system can't confine the process that reads (no seccomp): documents and web pages are not read.\n→ Run it on Linux (x86-64 or ARM64), or set CC_BOT_READ_UNCONFINED=on to read them without a sandbox.",
    )
    sandbox_off = Sentence(
        ja="文書とウェブページを隔離なしで読んでいます（CC_BOT_READ_UNCONFINED=on）。細工されたファイルは、ボットと同じことができるかもしれません。\n→ Linux（x86-64 か ARM64）で動かすと、隔離して読みます。",
        en="Documents and web pages are read without a sandbox (CC_BOT_READ_UNCONFINED=on): a crafted file may do whatever the bot can.\n→ On Linux (x86-64 or ARM64) they are read in one.",
    )
