"""What is remembered.

People; uploads; systems with their captures and audits; what a site decided; who did what; schedules with their runs;
who is told what; servers that are asked live.
"""

from advisor.models.audits import Audit, Capture, CaptureFacts, Finding, Printed, SettingsSnapshot, System
from advisor.models.exports import Blob, BlobChunk, FormerUpload, Input, Upload, UploadFile
from advisor.models.letters import Delivery, Mail, Recipient, Told, Webhook
from advisor.models.people import Role, Team, Token, User
from advisor.models.schedules import DropFile, Group, Run, Schedule
from advisor.models.site import JournalEntry, LimitSetting, Note, Site
from advisor.models.sources import DataSource, SourceTry
from advisor.models.work import Lease, Work

__all__ = [
    "Audit",
    "Blob",
    "BlobChunk",
    "Capture",
    "CaptureFacts",
    "DataSource",
    "Delivery",
    "DropFile",
    "Finding",
    "FormerUpload",
    "Group",
    "Input",
    "JournalEntry",
    "Lease",
    "LimitSetting",
    "Mail",
    "Note",
    "Printed",
    "Recipient",
    "Role",
    "Run",
    "Schedule",
    "SettingsSnapshot",
    "Site",
    "SourceTry",
    "System",
    "Team",
    "Token",
    "Told",
    "Upload",
    "UploadFile",
    "User",
    "Webhook",
    "Work",
]
