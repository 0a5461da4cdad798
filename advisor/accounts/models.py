"""People, the teams they work in, what their role lets them do, and the tokens their scripts use."""

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models, transaction
from django.utils import timezone


class Role(models.TextChoices):
    """What a person may do with the systems of their teams; an administrator sees every team."""

    VIEWER = "viewer", "viewer: reads"
    DBA = "dba", "DBA: uploads, audits, sets limits of systems"
    ADMINISTRATOR = "administrator", "administrator: everything, for every team"


class Team(models.Model):
    """People who share systems. What belongs to another team does not exist for them."""

    name = models.CharField(max_length=80, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class UserManager(BaseUserManager["User"]):
    """Makes users."""

    def get_by_natural_key(self, username: str | None) -> "User":
        """Find by name, without regard to case: `Alice` and `alice` are one person."""
        found = self.get(username__iexact=username)
        if found.username.lower() != str(username).lower():  # what a database takes for the same letter: `ı` for `i`
            raise self.model.DoesNotExist
        return found

    def create_user(self, username: str, password: str | None = None, **fields: Any) -> "User":
        """Make and save one."""
        user = self.model(username=username, **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, username: str, password: str | None = None, **fields: Any) -> "User":
        """Make an administrator, for `manage.py createsuperuser`; where there is no team yet, in a team `DBA`.

        Raises `ValidationError` without a password: nobody could log in.
        """
        from advisor.core.models import JournalEntry  # which knows users

        if not password:
            raise ValidationError("An administrator needs a password: with --noinput, set DJANGO_SUPERUSER_PASSWORD.")
        with transaction.atomic(using=self._db):
            user = self.create_user(username, password, role=Role.ADMINISTRATOR, **fields)
            if not Team.objects.using(self._db).exists():
                user.teams.add(Team.objects.using(self._db).create(name="DBA"))
            told = f"{username}: administrator, at the command line"
            JournalEntry.objects.using(self._db).create(who="lockwright", action="user added", what=told)
        return user


class User(AbstractBaseUser):
    """One person."""

    username = models.CharField(
        max_length=60,
        unique=True,
        validators=[RegexValidator(r"^[\w.@+-]+\Z", "Letters, digits and @ . + - _ only.")],
        error_messages={"unique": "There is a user of this name."},
    )
    name = models.CharField(max_length=120, blank=True)
    email = models.EmailField(blank=True)
    role = models.CharField(max_length=16, choices=Role.choices, default=Role.VIEWER)
    teams = models.ManyToManyField(Team, blank=True, related_name="users")
    is_active = models.BooleanField(default=True)
    must_change_password = models.BooleanField(default=False)
    created = models.DateTimeField(default=timezone.now)
    visited = models.DateTimeField(null=True, blank=True)
    """When the overview was last looked at."""
    visited_before = models.DateTimeField(null=True, blank=True)
    """The end of the visit before this one: what changed since then is marked on the overview."""

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = UserManager()

    class Meta:
        ordering = ["username"]

    def __str__(self) -> str:
        return self.username

    @property
    def is_administrator(self) -> bool:
        """Whether this person sees every team and sets up the site."""
        return self.role == Role.ADMINISTRATOR

    @property
    def may_work(self) -> bool:
        """Whether this person uploads, audits and sets limits (in their teams)."""
        return self.role in (Role.DBA, Role.ADMINISTRATOR)


class Token(models.Model):
    """A key for a script: acts as its user, within its scopes. Only a digest of the secret is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=12)
    """The first characters of the secret, to recognise it by."""
    scopes = models.JSONField(default=list)
    created = models.DateTimeField(default=timezone.now)
    expires = models.DateTimeField(null=True, blank=True)
    used = models.DateTimeField(null=True, blank=True)
    revoked = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    @property
    def live(self) -> bool:
        """Whether it opens anything now."""
        return self.revoked is None and (self.expires is None or self.expires > timezone.now()) and self.user.is_active
