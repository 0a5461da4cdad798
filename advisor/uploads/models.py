"""What people brought: the bytes, compressed and once each, and what was understood of them."""

from django.db import models
from django.utils import timezone


class Blob(models.Model):
    """The bytes of one file, by their SHA-256. The same bytes are kept once, whoever brings them under any name."""

    digest = models.CharField(max_length=64, primary_key=True)
    size = models.BigIntegerField()
    packed = models.BigIntegerField()
    """Bytes in the database."""
    packing = models.IntegerField(default=0, db_default=0)
    """How they are packed (`services.packing`); 0 is zlib, as all were before this field."""

    def __str__(self) -> str:
        return self.digest


class BlobChunk(models.Model):
    """A piece of the one packed stream of a blob, in order of its number."""

    blob = models.ForeignKey(Blob, on_delete=models.CASCADE, related_name="chunks", db_index=False)
    """The constraint has an index that begins with it."""
    number = models.IntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["blob", "number"], name="one_chunk_a_number")]

    def __str__(self) -> str:
        return f"{self.blob_id}/{self.number}"


class Upload(models.Model):
    """Files that came together. The same files for the same systems twice in one team are one upload."""

    class State(models.TextChoices):
        """How far it has come."""

        WAITING = "waiting"
        READING = "reading"
        DONE = "done"
        FAILED = "failed"

    team = models.ForeignKey("accounts.Team", on_delete=models.CASCADE, related_name="uploads")
    digest = models.CharField(max_length=64)
    """SHA-256 over the sorted digests of its files and, where one was chosen, the name of the system they are for."""
    by = models.ForeignKey("accounts.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="uploads")
    at = models.DateTimeField(default=timezone.now)
    origin = models.CharField(max_length=12, default="page")
    """`page`, `api`, `example` or `schedule`."""
    run = models.ForeignKey("schedules.Run", null=True, blank=True, on_delete=models.SET_NULL, related_name="uploads")
    """The run of a schedule that took it in."""
    collected_from = models.CharField(max_length=80, blank=True)
    """The name of the data source it was collected from; empty: it was not collected live."""
    system_name = models.CharField(max_length=120, blank=True)
    """The system that exports without a name of their own belong to, and what the one system that they name is called,
    as the uploader chose; empty: recognise."""
    system_names = models.JSONField(default=dict, blank=True)
    """The same for single files: `Input.file` → name; these go before `system_name`."""
    extends = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="extensions")
    """The upload whose files these include: when this one is read, its captures take the place of that one's."""
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    error = models.TextField(blank=True)
    queued = models.DateTimeField(null=True, blank=True)
    """When a sweep last put it into the queue once more."""
    tries = models.IntegerField(default=0)
    claimed = models.DateTimeField(null=True, blank=True)
    claimant = models.CharField(max_length=200, blank=True)
    """Which process of which machine reads it, and for which task (`job_queue.me`)."""
    finished = models.DateTimeField(null=True, blank=True)
    total_bytes = models.BigIntegerField(default=0)
    read_bytes = models.BigIntegerField(default=0)
    """Bytes that were read so far, unpacked."""
    unpacked_bytes = models.BigIntegerField(null=True, blank=True)
    """All there is to read, unpacked; null where that shows only while it is read (gzip)."""
    reading_now = models.CharField(max_length=300, blank=True)
    captures_found = models.IntegerField(null=True, blank=True)
    """How many captures it holds; null before everything is read."""
    captures_judged = models.IntegerField(default=0)
    """How many of them the rules have judged so far."""
    unnamed = models.IntegerField(default=0, db_default=0)
    """Its files that name no system, were given none, and so were judged by themselves (`services.naming`)."""
    bytes_dropped = models.DateTimeField(null=True, blank=True)
    """When retention took the bytes away; the facts stay."""

    class Meta:
        ordering = ["-at"]
        constraints = [models.UniqueConstraint(fields=["team", "digest"], name="the_same_upload_is_one")]
        indexes = [
            models.Index(fields=["state", "at"]),
            models.Index(fields=["team"], condition=models.Q(unnamed__gt=0), name="uploads_unnamed"),
        ]

    def __str__(self) -> str:
        return f"upload {self.pk}"

    @property
    def settled(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self.state in (self.State.DONE, self.State.FAILED)


class FormerUpload(models.Model):
    """The number of an upload that has gone, and the upload that took its place: old addresses lead there."""

    number = models.BigIntegerField(primary_key=True)
    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="took_place_of")

    def __str__(self) -> str:
        return f"upload {self.number}, now {self.upload_id}"


class UploadFile(models.Model):
    """One file of an upload, under the name it was brought with."""

    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="files")
    number = models.IntegerField()
    name = models.CharField(max_length=300)
    blob = models.ForeignKey(Blob, null=True, blank=True, on_delete=models.PROTECT, related_name="files")
    size = models.BigIntegerField()

    class Meta:
        ordering = ["number"]

    def __str__(self) -> str:
        return self.name


class Input(models.Model):
    """One report found in one file (an archive holds many), or a file in which none was found."""

    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="inputs")
    number = models.IntegerField()
    file = models.CharField(max_length=1000)
    report = models.CharField(max_length=60, null=True, blank=True)  # noqa: DJ001 - the contract says null
    facts = models.IntegerField(default=0)
    names_system = models.BooleanField(null=True, blank=True)
    """Whether it says itself which system it is of; null: it holds no facts, or was read before this was asked."""
    problems = models.JSONField(default=list)
    leftovers = models.JSONField(default=list)
    """As the contract prints them: `[{"lines": [first, last], "text": …}]`."""

    class Meta:
        ordering = ["number"]

    def __str__(self) -> str:
        return f"{self.file}: {self.report}"
