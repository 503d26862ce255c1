# SPDX-License-Identifier: BSD-3-Clause
"""Calls that Ctrl-C ends. Python runs its handlers of signals between instructions of the main thread, so a call on that
thread would end first. It runs on a helper thread instead, and the main thread waits where handlers can run."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

_helper = None
_running: dict = {}  # flags of jobs on other threads than the main one


def _forget_threads():
    global _helper
    _helper = None
    _running.clear()


os.register_at_fork(after_in_child=_forget_threads)  # they do not survive a fork


def _submit(job):
    """The job's future; None where no thread can be made: at the end of the interpreter, or where the system refuses one."""
    global _helper
    try:
        if _helper is None:
            _helper = ThreadPoolExecutor(1, "sextant")
        return _helper.submit(job)
    except RuntimeError:
        _helper = None  # its queue may hold the job, which the caller runs
        return None


def cancel_all():
    """At the end of the interpreter: only daemon threads are left then."""
    for cancel in list(_running.values()):
        cancel[0] = 1


def _until_the_end(job, cancel):
    _running[id(cancel)] = cancel
    try:
        return job()
    finally:
        _running.pop(id(cancel), None)  # gone in a child that was forked meanwhile


def interruptible(job, cancel):
    """job(), which ends soon after the flag `cancel` (int32_t *) is set. What a handler of signals raises meanwhile sets
    it, and is raised once the job has ended."""
    if threading.current_thread() is not threading.main_thread():
        return _until_the_end(job, cancel)  # signals never reach other threads
    try:
        future = _submit(job)
        return job() if future is None else future.result()
    except BaseException:
        _wait_for_helper(cancel)
        raise


def _wait_for_helper(cancel):
    """Ends the job that the helper may have, and returns once it has none: a job uses the caller's arrays. Ctrl-C may have come
    before its future was known, so a job behind it tells."""
    while True:
        try:
            cancel[0] = 1
            last = _submit(lambda: None)
            if last is not None:
                last.result()
            return
        except BaseException:  # a second Ctrl-C waits as well; the first is raised
            continue
