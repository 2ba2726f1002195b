"""The peers that are installed, and why others are not there."""

from __future__ import annotations

from importlib import import_module

from .base import Cannot, Outcome, Peer

MODULES = {
    "dalembert_peer": "dalembert",
    "c_dop853": "C by hand",
    "heyoka_peer": "heyoka",
    "scipy_peer": "SciPy + lambdify",
    "pydy_peer": "PyDy",
    "diffrax_peer": "diffrax",
    "casadi_peer": "casadi",
    "mujoco_peer": "MuJoCo",
    "pinocchio_peer": "Pinocchio",
    "exudyn_peer": "Exudyn",
    "drake_peer": "Drake",
}


def installed(wanted: list[str] | None = None) -> tuple[list[Peer], dict[str, str]]:
    """Peers that can be imported (all, or those with a wanted word in their name), and the errors of the others."""
    peers: list[Peer] = []
    missing: dict[str, str] = {}
    for module, name in MODULES.items():
        if wanted and not any(word.lower() in name.lower() for word in wanted):
            continue
        try:
            loaded = import_module(f".{module}", __name__)
        except ImportError as error:
            missing[name] = str(error)
            continue
        peers += getattr(loaded, "PEERS", None) or [loaded.PEER]
    return peers, missing


__all__ = ["Cannot", "Outcome", "Peer", "installed"]
