"""`dalembert export MODEL --cuda FILE`."""

from __future__ import annotations

import json


def test_export_writes_a_source_a_description_and_a_runner(dalembert, document, tmp_path):
    done = dalembert("export", document(), "--cuda", "swing.cu", "--duration", "3", "--rtol", "1e-3", "--json")
    assert done.status == 0, done.err
    told = json.loads(done.out)
    assert told["files"] == ["swing.cu", "swing.json", "swing.run.py"]
    about = json.loads((tmp_path / "swing.json").read_text(encoding="utf-8"))
    # The tolerance chooses the method, as it does for a motion.
    assert (about["duration"], about["rtol"], about["method"]) == (3.0, 1e-3, "dopri5")
    assert "da_members" in (tmp_path / "swing.cu").read_text(encoding="utf-8")
    assert "swing.run.py" in dalembert("export", document(), "--cuda", "swing.cu").out


def test_what_a_gpu_cannot_run_is_one_message(dalembert):
    done = dalembert("export", "stick_slip", "--cuda", "belt.cu")
    assert done.status != 0
    assert done.err.strip().splitlines() == [
        "dalembert: mass on a rough belt does not run on a GPU: "
        "contacts and friction that sticks are decided on the CPU; the CPU runs it"
    ]
    done = dalembert("export", "penny", "--cuda", "nowhere/penny.cu")
    assert done.status == 2
    assert "cannot be written" in done.err
