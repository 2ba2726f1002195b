"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import importlib.machinery
import pkgutil

import pytest

import dalembert


def modules() -> list[str]:
    """All of the package. Libraries that an installed package brings compiled look like modules, but are none."""
    found = pkgutil.walk_packages(dalembert.__path__, prefix="dalembert.")
    return ["dalembert", *(module.name for module in found if not is_library(module))]


def is_library(module: pkgutil.ModuleInfo) -> bool:
    spec = module.module_finder.find_spec(module.name, None)
    return isinstance(spec.loader, importlib.machinery.ExtensionFileLoader)


@pytest.mark.parametrize("name", modules())
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_there_are_examples():
    """So that the test above cannot pass by finding nothing."""
    total = sum(len(doctest.DocTestFinder().find(importlib.import_module(name))) for name in modules())
    assert total > 50
