"""The links of mails open settings without a login: what is logged must not hold one."""

import logging
import re

LINK = re.compile(r"(/mail/for)(?:/|%2f)+[^\s\"']*", re.IGNORECASE)


def hidden(text: str) -> str:
    """Cut what follows `/mail/for/`."""
    return LINK.sub(r"\1/…", text)


class HiddenLinks(logging.Filter):
    """Lets every record through, without the signed part of links."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Cut links in the message and in what is put into it."""
        record.msg = hidden(str(record.msg))
        if isinstance(record.args, tuple):
            record.args = tuple(hidden(one) if isinstance(one, str) else one for one in record.args)
        return True
