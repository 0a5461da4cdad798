"""Systems in forms."""

from typing import Any

from django import forms

from advisor.audits.report.render import PRODUCT_NAMES


class SystemsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # generic for mypy alone
    """Systems of a team as check boxes; two of one name differ by what they are of.

    A script puts a filter above them and a button for all that it shows.
    """

    widget = forms.CheckboxSelectMultiple(attrs={"class": "choice"})

    def label_from_instance(self, obj: Any) -> str:
        """The name with the product."""
        return f"{obj.name} ({PRODUCT_NAMES.get(obj.product, obj.product)})"
