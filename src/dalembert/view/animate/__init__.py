"""Scenes as moving pictures: GIF and MP4 by matplotlib, and pages of HTML by the player."""
