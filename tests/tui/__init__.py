"""Tests of the screens: pure parts as tables, the rest by Pilot with one fake of the doctor."""
