"""What is made once and kept."""

from __future__ import annotations

import threading
import time

from dalembert.remember import remember, remember_alone


def test_what_threads_must_not_make_at_once_is_made_by_one_after_the_other():
    at_work, most, made = 0, 0, []

    def make(key: int) -> int:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        time.sleep(0.005)  # others come to it meanwhile
        at_work -= 1
        made.append(key)
        return remember_alone(inner, key, lambda: 10 * key, 8)  # what is made of other things that are made alone

    inner: dict[int, int] = {}
    kept: dict[int, int] = {}
    found: list[int] = []

    def ask(key: int) -> None:
        found.append(remember_alone(kept, key, lambda: make(key), 8))

    threads = [threading.Thread(target=ask, args=(k % 3,)) for k in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert sorted(made) == [0, 1, 2]  # each once
    assert sorted(found) == [0, 0, 0, 10, 10, 10, 20, 20, 20]


def test_the_oldest_is_given_up():
    kept: dict[int, int] = {}
    for key in range(5):
        assert remember(kept, key, lambda key=key: 2 * key, 3) == 2 * key
    assert list(kept) == [2, 3, 4]
