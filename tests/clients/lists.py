"""Every list of cases, in the order in which they were asked."""

from . import (
    eighth_cases,
    eighth_more_cases,
    eleventh_cases,
    eleventh_more_cases,
    fifteenth_cases,
    fifteenth_more_cases,
    fifth_cases,
    fourteenth_cases,
    fourteenth_more_cases,
    fourth_cases,
    more_cases,
    nineteenth_cases,
    ninth_cases,
    ninth_more_cases,
    seventeenth_cases,
    seventeenth_more_cases,
    seventh_cases,
    sixteenth_cases,
    sixth_cases,
    third_cases,
    thirteenth_cases,
    twelfth_cases,
    twentieth_cases,
    twentieth_more_cases,
    twentyfirst_cases,
    twentyfirst_more_cases,
)
from .cases import CASES

# The lists that have a row on the page.
LISTS = {
    "third": [third_cases],
    "fourth, and pandas": [fourth_cases],
    "sixth": [sixth_cases],
    "seventh": [seventh_cases],
    "eighth": [eighth_cases, eighth_more_cases],
    "ninth": [ninth_cases, ninth_more_cases],
    "eleventh": [eleventh_cases, eleventh_more_cases],
    "thirteenth": [thirteenth_cases],
    "fourteenth": [fourteenth_cases, fourteenth_more_cases],
    "fifteenth": [fifteenth_cases, fifteenth_more_cases],
    "sixteenth": [sixteenth_cases],
    "seventeenth": [seventeenth_cases, seventeenth_more_cases],
    "nineteenth": [nineteenth_cases],
    "twentieth": [twentieth_cases, twentieth_more_cases],
    "twenty-first": [twentyfirst_cases, twentyfirst_more_cases],
}
OTHERS = more_cases, fifth_cases, twelfth_cases
BY_NAME = {f"{package}.{fun.__name__}": (package, fun, args) for package, fun, args in CASES}
