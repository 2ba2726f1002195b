"""Whether blows depend on reactions that nothing determines: two wires that say the same share a blow in any way.

Friction of such guides is left out of a blow. That decides nothing where the blow ends with the same velocities if they
rub, as behind a stop that a bead leaves by Newton's law; elsewhere the motion after it is one of many.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.errors import DalembertError
from dalembert.motion.contacts.impacts.guides import Guide, guides_at
from dalembert.motion.contacts.impacts.impact_on_arrays import strike
from dalembert.motion.contacts.impacts.impacts import Impact, Rough
from dalembert.motion.contacts.modes.contacts import Contacts

# So many blows are looked at, evenly among all.
MOST = 20
# Velocities that change by less than this share are the same; what is slower than the other share is at rest.
SAME, REST = 1e-6, 1e-12


def undetermined_in_blows(blows: tuple[Impact, ...], contacts: Contacts) -> tuple[str, ...]:
    """Names of guides whose friction would change a blow, if they shared it with the smallest reactions."""
    if not contacts.sliding_guides:
        return ()
    found: dict[str, None] = {}
    for blow in blows[:: -(-len(blows) // MOST) or 1]:
        determined = {guide.name for guide in guides_at(contacts, blow.t, blow.q, blow.before)}
        guides = guides_at(contacts, blow.t, blow.q, blow.before, shared=True)
        names = [guide.name for guide in guides if guide.name not in determined]
        if names and _changes(contacts, blow, guides):
            found |= dict.fromkeys(names)
    return tuple(found)


def _changes(contacts: Contacts, blow: Impact, guides: tuple[Guide, ...]) -> bool:
    """Whether a blow ends with other velocities where all these guides rub in it."""
    M, _, A, _ = contacts.unconstrained(blow.q, blow.before, blow.t)
    always = [k for k in range(contacts.m) if k not in contacts.one_sided]
    names = [contacts.system.constraints[row].name for row in contacts.one_sided]
    meetings = []
    for contact in blow.contacts:
        rough = Rough(contacts, names.index(contact.name), blow.t, blow.q, blow.before)
        meetings.append(replace(rough.meeting(0.0), e=contact.e))
    speed = float(np.abs(blow.before).max())
    try:
        again = strike(M, A[always], meetings, blow.before, "together", REST * speed, guides)
    except DalembertError:
        return True  # a guide that jams, or goes on in several ways
    after = again[-1].after if again else blow.before
    return bool(np.abs(after - blow.after).max() > SAME * max(speed, float(np.abs(blow.after).max())))
