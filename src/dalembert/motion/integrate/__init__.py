"""Where steps are taken: settings, both backends, events on the way. A backend returns a trajectory."""
