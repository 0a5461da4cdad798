"""The form of a data source. What one may be `schedules.sources.data_sources` says.

A password is written only: no field shows one, none stands in the page, also where the form comes back with an error
or the password was typed into the connection string.
"""

from typing import Any

from django import forms
from django.views.decorators.debug import sensitive_variables

from advisor.accounts.models import Team
from advisor.schedules.models import DataSource
from advisor.schedules.sources import data_sources, strings
from advisor.schedules.sources.data_sources import SourceSpec
from advisor.systems.models import System

NEW = "new"
PRODUCTS = [("ase", "SAP ASE"), ("rdb", "Oracle Rdb")]


class SourceForm(forms.Form):
    """A data source of one system of a team; without a system it asks for which."""

    system = forms.ChoiceField(required=False)
    new_system = forms.CharField(
        max_length=120,
        required=False,
        label="Name of the new system",
        help_text="As the server calls itself: the name its exports say.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    product = forms.ChoiceField(choices=PRODUCTS, required=False, label="Product of the new system")
    name = forms.CharField(
        max_length=data_sources.LONGEST,
        help_text="What pages and reports call it. Reports show neither its address nor its login.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    reach = forms.ChoiceField(
        choices=(("host", "by host, port and login"), ("odbc", "by an ODBC connection string")),
        required=False,
        label="Way",
        widget=forms.RadioSelect,
    )
    host = forms.CharField(
        max_length=255, required=False, widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
    )
    port = forms.IntegerField(required=False, min_value=1, max_value=65535, initial=5000)
    user = forms.CharField(
        max_length=128,
        required=False,
        label="Login",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="One of its own that may read only: mon_role for the monitoring tables, no sa_role.",
    )
    odbc = forms.CharField(
        max_length=strings.LONGEST,
        required=False,
        label="ODBC connection string",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="In place of host, port and login: DRIVER={Adaptive Server Enterprise};SERVER=host;PORT=5000;"
        "UID=login or DSN=name. Its password belongs below.",
    )
    password = forms.CharField(
        required=False,
        max_length=data_sources.LONGEST_PASSWORD,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="Kept encrypted and never shown again. An empty field keeps what is stored.",
    )
    remove_password = forms.BooleanField(label="Remove the stored password", required=False)
    seconds = forms.IntegerField(
        min_value=data_sources.SECONDS[0],
        max_value=data_sources.SECONDS[1],
        initial=60,
        label="Seconds between the two snapshots",
        help_text="5 to 600. SAP ASE only; so is sp_sysmon.",
    )
    sysmon = forms.CharField(
        max_length=8,
        required=False,
        label="sp_sysmon for",
        help_text="HH:MM:SS, up to 00:10:00. Empty: it is not called.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "00:01:00"}),
    )

    without = forms.CharField(
        max_length=data_sources.LONGEST_WITHOUT,
        required=False,
        label="Questions left out",
        help_text="Names with commas between, as manage.py collect --questions prints them: cached_objects, tables. "
        "Empty: all are asked.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    question_seconds = forms.IntegerField(
        required=False,
        min_value=data_sources.QUESTION_SECONDS[0],
        max_value=data_sources.QUESTION_SECONDS[1],
        label="Seconds for one question",
        help_text="30 to 600. Empty: 30, and 60 or 120 for the few that read much; none of them gets less by this.",
    )

    @sensitive_variables()
    def __init__(self, data: Any, *, team: Team, source: DataSource | None = None, system: str = "") -> None:
        """Offer the systems of the team; `system` stands chosen in a new one."""
        data, self.typed_in_string, self.cut = _without_password(data)
        super().__init__(data, initial=_initial(source) if source else {"system": system or None})
        self.team, self.source = team, source
        if source:
            for name in ("system", "new_system", "product"):
                del self.fields[name]
        else:
            del self.fields["remove_password"]
            self.fields["password"].help_text = "Kept encrypted and never shown again."
            systems = team.systems.filter(product__in=data_sources.PRODUCTS).order_by("name")
            offered = list(systems.values_list("pk", "name", "product"))
            grouped = [
                (words, [(str(pk), f"{name} ({words})") for pk, name, of in offered if of == product])
                for product, words in PRODUCTS
            ]
            self.fields["system"].choices = [  # type: ignore[attr-defined]
                ("", "choose one"),
                *((words, some) for words, some in grouped if some),
                (NEW, "a new one"),
            ]

    def clean(self) -> dict[str, Any]:
        """Say of a field that something like a password was taken away from it."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if self.cut:
            says = "Something like a password stood in it and is taken away. Write it into its own field, below."
            self.add_error(self.cut, says)
        # what the other way has stands hidden in the form: it is not meant; without a way both are, and refused as ever
        if given.get("reach") == "host" and self._product(given) == "ase":  # Oracle Rdb has one way alone
            given["odbc"] = ""
        elif given.get("reach") == "odbc":
            given["host"] = given["user"] = ""
        return given

    def _product(self, given: dict[str, Any]) -> str:
        """The product of the system that it is of, as far as it is known."""
        if self.source:
            return self.source.system.product
        asked = given.get("system", "")
        if asked in ("", NEW):
            return str(given.get("product", ""))
        return str(self.team.systems.values_list("product", flat=True).get(pk=asked))

    @sensitive_variables()
    def wish(self) -> SourceSpec:
        """What was said, once it is valid."""
        given = self.cleaned_data
        return SourceSpec(
            name=given["name"],
            host=given["host"],
            port=given["port"],
            user=given["user"],
            odbc=given["odbc"],
            password=given["password"] or self.typed_in_string,
            remove_password=given.get("remove_password", False),
            seconds=given["seconds"],
            sysmon=given["sysmon"],
            without=given["without"],
            question_seconds=given["question_seconds"],
        )

    def chosen(self) -> System | None:
        """The system of the team that was chosen; none: a new one."""
        asked = self.cleaned_data["system"]
        return None if asked in ("", NEW) else self.team.systems.select_related("team").get(pk=asked)


@sensitive_variables()
def _without_password(data: Any) -> tuple[Any, str, str]:
    """What was sent, without the password that somebody typed into the connection string; and that password.

    And the field in which something stood that may be one, but cannot be told from the rest: it is taken away.
    """
    if not data:
        return data, "", ""
    kept, cut = data.copy(), ""
    odbc = str(kept.get("odbc", ""))
    kept["odbc"], password = strings.taken_out(odbc)
    if kept["odbc"] != odbc and not password:
        cut = "odbc"
    if "@" in str(kept.get("host", "")):  # ase://user:password@host:port/, as the command line takes it
        kept["host"], cut = str(kept["host"]).rpartition("@")[2], "host"
    return kept, password, cut


def _initial(source: DataSource) -> dict[str, Any]:
    columns = ("name", "host", "port", "user", "odbc", "seconds", "sysmon", "without", "question_seconds")
    return {name: getattr(source, name) for name in columns} | {"reach": "odbc" if source.odbc else "host"}
