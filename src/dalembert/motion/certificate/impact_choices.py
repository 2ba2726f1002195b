"""Whether blows took the law of impact, and contacts that met at one instant the order, that the model asks for.

The other measures look at each blow by the law that it says it had.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from dalembert.arrays import Array, norm_of
from dalembert.motion.contacts.impacts.blow import LAWS
from dalembert.motion.contacts.impacts.impact_on_arrays import FALLING, MOST_UNSEEN, SEQUENCE, TOGETHER
from dalembert.motion.contacts.impacts.impacts import Impact, Rough
from dalembert.motion.contacts.modes.contacts import Contacts

# So many instants with several blows are looked at, spread evenly.
MOST = 50
# Approaches that differ by less than this share are the same: rounding of some operations.
SAME = 1e-9
# What approaches more slowly than this share of the velocities of a blow does not.
CLOSES = 1e-8
# What parts more slowly than this share of the velocities rests, but for rounding.
RESTS = 1e-10
# What approaches faster than this share of the velocities of an instant was not passed over by rounding.
MISSED = 1e-6
# Contacts whose impulses change each other's velocity by less than this share do not feel each other.
FELT = 1e-9


def follow_choices(contacts: Contacts, blows: Sequence[Impact]) -> bool:
    """Whether all blows, in order of time, have the law of their contacts and the order of the model."""
    system = contacts.system
    laws = {c.name: c.impact or LAWS[0] for c in system.constraints if c.one_sided}
    gives_back = {name: contacts.restitutions[k] > 0.0 for name, k in contacts.gap_numbers.items()}
    for number, blow in enumerate(blows):
        names = [contact.name for contact in blow.contacts]
        # What gave nothing back had no law; whether it should have is measured with its restitution.
        with_law = {contact.name for contact in blow.contacts if contact.e > 0.0 and gives_back[contact.name]}
        asked = {laws[name] for name in names if len(names) == 1 or name in with_law}
        another = bool(asked) and asked != {blow.law}
        not_in_order = system.impacts != TOGETHER and len(names) > 1 and not _ends_others(contacts, blows, number)
        if (another or not_in_order) and _collides(contacts, blow):
            return False
    if system.impacts != TOGETHER:
        blows = [blow for blow in blows if len(blow.contacts) == 1]
    several = [own for _, group in groupby(blows, lambda blow: blow.t) if len(own := list(group)) > 1]
    chosen = sorted({*np.linspace(0, len(several) - 1, min(MOST, len(several))).astype(int).tolist()})
    if system.impacts == TOGETHER:
        return not any(_could_meet_together(contacts, several[k]) for k in chosen)
    if system.impacts == SEQUENCE:
        return all(_fastest_first(contacts, several[k]) for k in chosen)
    return all(_in_turn(contacts, several[k], system.impacts) for k in chosen)


class _Meeting:
    """The contacts of the blows of one instant: their normals (K, n), and how fast they approach."""

    def __init__(self, contacts: Contacts, blows: Sequence[Impact]) -> None:
        self.names = list(dict.fromkeys(contact.name for blow in blows for contact in blow.contacts))
        first = blows[0]
        made = [Rough(contacts, contacts.gap_numbers[name], first.t, first.q, first.before) for name in self.names]
        lengths = [norm_of(rough.normal) or 1.0 for rough in made]
        self.normals = np.array([rough.normal / length for rough, length in zip(made, lengths, strict=True)])
        self.offsets = np.array([rough.offset / length for rough, length in zip(made, lengths, strict=True)])

    def approach(self, v: Array) -> Array:
        return np.asarray(-(self.normals @ v + self.offsets))


def _collides(contacts: Contacts, blow: Impact) -> bool:
    """Whether contacts approach before a blow. One that catches slips between them has neither law nor order."""
    speeds = _Meeting(contacts, [blow]).approach(blow.before)
    return bool(speeds.max() > CLOSES * np.abs(blow.before).max())


def _ends_others(contacts: Contacts, blows: Sequence[Impact], number: int) -> bool:
    """Whether a blow together ends blows in sequence that had no end in sight. That nothing was given back then only
    where contacts are braced is measured with its restitution.
    """
    first = number  # of the blows together: each group of contacts that feel each other has one
    while first and _is_together(blows[first - 1], blows[number]):
        first -= 1
    least = max(first - 2 * MOST_UNSEEN, 0)
    start = first
    while start > least and blows[start - 1].t == blows[number].t and len(blows[start - 1].contacts) == 1:
        start -= 1
    # Blows are counted on over those that end others, of which there are no more than contacts.
    if first - start < 2 * MOST_UNSEEN - len(contacts.one_sided):
        return False
    meeting = _Meeting(contacts, blows[start : number + 1])
    speeds = [float(meeting.approach(blow.before).max()) for blow in blows[start : first + 1]]
    return max(speeds[-MOST_UNSEEN:]) > FALLING * max(speeds[1:-MOST_UNSEEN])


def _is_together(blow: Impact, other: Impact) -> bool:
    return blow.t == other.t and len(blow.contacts) > 1


def _fastest_first(contacts: Contacts, blows: Sequence[Impact]) -> bool:
    meeting = _Meeting(contacts, blows)
    for blow in blows:
        speeds = meeting.approach(blow.before)
        own = speeds[meeting.names.index(blow.contacts[0].name)]
        if own < (1.0 - SAME) * speeds.max():
            return False
    return True


def _in_turn(contacts: Contacts, blows: Sequence[Impact], order: Sequence[str]) -> bool:
    """Whether contacts strike in the order given, again and again, those that it does not name after these: none that
    approaches is passed over. Where the decisions at an instant begin anew, so does the order.
    """
    meeting = _Meeting(contacts, blows)
    cycle = [name for name in order if name in meeting.names]
    cycle += sorted(set(meeting.names) - set(cycle), key=contacts.gap_numbers.__getitem__)
    places = [meeting.names.index(name) for name in cycle]
    fastest, turn = 0.0, 0
    for blow in blows:
        speeds = meeting.approach(blow.before)[places]
        fastest = max(fastest, float(speeds.max()), float(np.abs(blow.before).max()))
        own = cycle.index(blow.contacts[0].name)
        passed = [k % len(cycle) for k in range(turn, turn + len(cycle))]
        since_turn, since_start = passed[: passed.index(own)], range(own)
        if all(any(speeds[k] > MISSED * fastest for k in over) for over in (since_turn, since_start)):
            return False
        turn = own + 1
    return True


def _could_meet_together(contacts: Contacts, blows: Sequence[Impact]) -> bool:
    """Whether a contact of the second blow neither parted nor stood apart from those of the first when that fell: then
    both should have been one.
    """
    first, second = ([contact.name for contact in blow.contacts] for blow in blows[:2])
    meeting = _Meeting(contacts, blows[:2])
    speeds = meeting.approach(blows[0].before)
    limit = RESTS * float(np.abs(blows[0].before).max())
    for name in set(second) - set(first):
        k = meeting.names.index(name)
        change = float(meeting.normals[k] @ (blows[0].after - blows[0].before))
        if speeds[k] >= -limit and abs(change) > FELT * float(np.abs(blows[0].before).max()):
            return True
    return False
