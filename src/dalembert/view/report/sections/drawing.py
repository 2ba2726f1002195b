"""The drawing of the system, moving on a screen and still on paper."""

from __future__ import annotations

from dalembert.errors import DalembertError
from dalembert.model.units import unit_of
from dalembert.motion.large.size import is_large
from dalembert.motion.result.motion import Motion
from dalembert.view.animate.painter import Painter, Style
from dalembert.view.markup.elements import Html, element, fragment
from dalembert.view.markup.pictures import image_of
from dalembert.view.markup.tables import number
from dalembert.view.player.moments import moments
from dalembert.view.player.page import fragment_of
from dalembert.view.plots.panel import panels_of
from dalembert.view.report.section import Section, left_out_of_large, note
from dalembert.view.scene.frames import watchable_speed
from dalembert.view.scene.scene_of import scene_of

# Frames that the player interpolates between: of more the report would be too large to send.
MOST_FRAMES = 2000
STILL_WIDTH = 900
PANELS = ("coordinates", "energy balance")


def drawing_section(motion: Motion) -> Section:
    return Section("motion", "The motion", _body(motion))


def _body(motion: Motion) -> Html:
    if is_large(motion.system):
        return left_out_of_large("The drawing", len(motion.system.coordinates), "motion.animate(…)")
    speed = watchable_speed(float(motion.t[-1] - motion.t[0]))
    try:
        scene = scene_of(motion, frames=moments(motion, speed=speed, most=MOST_FRAMES))
        panels = [panel for panel in panels_of(motion, PANELS) if not panel.text]
        unit = unit_of(motion.system, "t") or "s"
        player = fragment_of([scene], panels, motion.system.name, speed=speed, unit=unit)
    except DalembertError as error:
        return note(f"The system could not be drawn: {error}")
    # On paper, where all that was traced is there.
    last = Painter([scene], Style(width=STILL_WIDTH)).image(scene.times.size - 1)
    still = image_of(last, f"{motion.system.name} at t = {number(float(motion.t[-1]))}")
    return fragment(
        element("div", Html(player), class_="screen"),
        element("figure", still, class_="still"),
    )
