"""Document 000: JCC Consulting's slides on the performance of the OpenVMS lock manager."""

from rules.documents.document_000.cluster import CLUSTER
from rules.documents.document_000.one_node import ONE_NODE
from rules.documents.document_000.tables import TABLES
from rules.documents.kit import Document

DOCUMENT = Document(
    "000",
    "Performance of the OpenVMS lock manager",
    "JCC Consulting, 2014 (slides)",
    "How many locks per second OpenVMS can do, alone and in a cluster, and what changes that.",
    (*ONE_NODE, *CLUSTER, *TABLES),
)
