"""The five source documents: every table and figure of each, and what this project does with it."""

from rules.documents.document_000 import DOCUMENT as DOCUMENT_000
from rules.documents.document_001 import DOCUMENT as DOCUMENT_001
from rules.documents.document_002 import DOCUMENT as DOCUMENT_002
from rules.documents.document_003 import DOCUMENT as DOCUMENT_003
from rules.documents.document_004 import DOCUMENT as DOCUMENT_004
from rules.documents.kit import Document, Entry

DOCUMENTS: tuple[Document, ...] = (DOCUMENT_000, DOCUMENT_001, DOCUMENT_002, DOCUMENT_003, DOCUMENT_004)

__all__ = ["DOCUMENTS", "Document", "Entry"]
