"""What is remembered: people, uploads, systems with their captures and audits, what a site decided, who did what."""

from advisor.models.audits import Audit, Capture, CaptureFacts, Finding, SettingsSnapshot, System
from advisor.models.exports import Blob, BlobChunk, FormerUpload, Input, Upload, UploadFile
from advisor.models.people import Role, Team, Token, User
from advisor.models.site import JournalEntry, LimitSetting, Note, Site

__all__ = [
    "Audit",
    "Blob",
    "BlobChunk",
    "Capture",
    "CaptureFacts",
    "Finding",
    "FormerUpload",
    "Input",
    "JournalEntry",
    "LimitSetting",
    "Note",
    "Role",
    "SettingsSnapshot",
    "Site",
    "System",
    "Team",
    "Token",
    "Upload",
    "UploadFile",
    "User",
]
