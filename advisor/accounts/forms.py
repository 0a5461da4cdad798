"""What an administrator says of people and teams, on the pages and by the API."""

from django import forms

from advisor.accounts.models import Role, Team, User


class PersonForm(forms.ModelForm):  # type: ignore[type-arg]  # generic for mypy alone
    """What an administrator says of a person, new or known."""

    name = forms.CharField(label="Full name", max_length=120, required=False)
    email = forms.EmailField(label="E-mail", required=False)
    role = forms.ChoiceField(choices=Role.choices)
    teams = forms.ModelMultipleChoiceField(
        Team.objects.all(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Systems of a team are seen by its people alone, and by administrators.",
    )


class EditForm(PersonForm):
    """A known person."""

    is_active = forms.BooleanField(
        label="Active",
        required=False,
        help_text="Without it the person cannot log in; open sessions end and tokens stop working at once.",
    )

    class Meta:
        model = User
        fields = ["name", "email", "role", "teams", "is_active"]


class AddForm(PersonForm):
    """A new person; the name for the login stays."""

    class Meta:
        model = User
        fields = ["username", "name", "email", "role", "teams"]
        labels = {"username": "Name for the login"}
        help_texts = {"username": "Letters, digits and @ . + - _; it cannot be changed later."}
        widgets = {"username": forms.TextInput(attrs={"autocapitalize": "none", "autocomplete": "off"})}


class TeamForm(forms.Form):
    """The name of a team; services.people says whether it is free."""

    name = forms.CharField(max_length=80, widget=forms.TextInput(attrs={"autocomplete": "off"}))

    def clean_name(self) -> str:
        """One line, single blanks."""
        return " ".join(self.cleaned_data["name"].split())
