"""Drives two workers by hand, as a crew between processes, through an exchange in a mode. Run by local_p2p.bats.

    exchange.py WORKER DEVICE PATH     prints a line a mode: mode, statuses, wrong elements
"""
import json
import subprocess
import sys

worker, device, path = sys.argv[1:]
crew = [subprocess.Popen([worker, "--crew", "1", "--rank", str(rank)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for rank in range(2)]
number = 0


def ask(do, **members):
    """The same request to both; both answers."""
    global number
    number += 1
    for process in crew:
        process.stdin.write(json.dumps({"id": number, "do": do, **members}) + "\n")
        process.stdin.flush()
    answers = []
    for process in crew:
        for line in process.stdout:
            if json.loads(line).get("id") == number:
                answers.append(json.loads(line))
                break
    return answers


def good(answers):
    assert len(answers) == 2 and all(a["status"] == "ok" for a in answers), answers
    return answers


offers = good(ask("offer", device=device, nranks=1, workers=2, gate=True, page=True,
                  stations=[[{"device": 0, "rank": 0}], [{"device": 1, "rank": 1}]]))
arenas = good(ask("arena", arena_bytes=4 << 20, bounce_bytes=0, export=True))
good(ask("open", blobs=[{**o["blob"], **a["blob"]} for o, a in zip(offers, arenas)], communicator=0, ranks=[0, 1]))
for mode, k in (("pipelined", 5), ("isolated", 1), ("graph", 5)):
    wrong = 0
    for size in (16, 4096, 3 << 20):
        cell = {"kind": "copy", "op": path, "library": device, "buffers": "plain", "datatype": "float", "redop": "sum",
                "requested_bytes": size, "size_bytes": size, "count": size // 4, "placement": "out_of_place", "timing": mode,
                "pattern": "ring", "processes": "ipc", "edges": [[0, 1], [1, 0]]}
        good(ask("cell", cell=cell, communicator=0, ranks=[0, 1]))
        timed = good(ask("blocks", purpose="warm up", k=1, n=3))
        assert all(a["aligned"] for a in timed)
        wrong += sum(sum(a["wrong"]) for a in good(ask("check", first=1, iterations=2)))
        good(ask("check", prepare=True, first=3))
        timed = good(ask("blocks", purpose="time", k=k, n=8))
        assert all(len(a["samples_us"]) == 8 and min(a["samples_us"]) > 0 for a in timed)
        wrong += sum(sum(a["wrong"]) for a in good(ask("check", last=True, first=3)))
    print(mode, "ok", wrong)
good(ask("bye"))
assert [process.wait() for process in crew] == [0, 0]
