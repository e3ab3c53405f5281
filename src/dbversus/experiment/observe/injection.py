"""Slows targets down by known shares over the rows of a test, and journals what was really added (docs/injection.md)."""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from dbversus.experiment.asked.shares import Shares, shares_of
from dbversus.experiment.observe.observer import Observer
from dbversus.experiment.observe.scene import Scene, driven_ops
from dbversus.experiment.rig.engine import Reply
from dbversus.experiment.rig.rig import Rig, Target
from dbversus.results.records import Injected as InjectedRecord
from dbversus.results.records import InjectedWork
from dbversus.servers.injection import ALWAYS, Bursts, Injected, Injection
from dbversus.servers.process.daemon import Daemon


@dataclass
class Span:
    """An interval in which shares are in force and operations are counted, by target name; without pages, nothing.

    `phase`: how far into the first period of its bursts each begins, as a part of that.
    `before`, `after`: what the library had counted when it began, and when the last row that was driven had ended.
    """

    pages: Mapping[str, Injection] = field(default_factory=dict)
    shares: Mapping[str, Shares] = field(default_factory=dict)
    phase: float = 0.0
    ops: Counter[str] = field(default_factory=Counter)
    before: dict[str, Injected] = field(default_factory=dict)
    after: dict[str, Injected] = field(default_factory=dict)

    def begin(self) -> None:
        """Counts from here on: also when servers or connections are others than before, in the midst of the rows."""
        for name, page in self.pages.items():
            shares = self.shares[name]
            page.set_shares(shares.cpu, shares.io, _bursts(shares, self.phase))
            self.before[name] = page.read()
            self.ops[name] = 0

    def drove(self, row: Reply) -> None:
        self.ops.update(driven_ops(row))
        self.after = {name: page.read() for name, page in self.pages.items()}

    def end(self) -> None:
        for page in self.pages.values():
            page.set_shares(0.0, 0.0)

    def figures(self) -> dict[str, InjectedWork]:
        """Shares asked for, operations since `begin`, and what the library has counted over their rows."""
        return {
            name: InjectedWork(
                **self.shares[name].asked(), ops=self.ops[name], **asdict(self.after[name] - self.before[name])
            )
            for name in self.pages
            if self.ops[name]
        }


def _bursts(shares: Shares, phase: float) -> Bursts:
    """When CPU is added, in the words of the control page."""
    if shares.burst is None:
        return ALWAYS
    burst_ns, every_ns = (max(1, round(length_ms * 1e6)) for length_ms in (shares.burst.ms, shares.burst.every_ms))
    return Bursts(burst_ns, every_ns, int(phase * every_ns))


class Injecting(Observer):
    """Sets the shares of a case for its counted rows, and journals what was added over those that ended."""

    def __init__(self, scene: Scene):
        super().__init__(scene)
        self._span: Span | None = None

    def rows_begin(self) -> None:
        self._span = self._span or _span(self.scene)
        self._span.begin()

    def row(self, row: Reply) -> None:
        if self._span:
            self._span.drove(row)

    def rows_end(self) -> None:
        if self._span is None:
            return
        self._span.end()
        if figures := self._span.figures():
            rig = self.scene.rig
            rig.note(InjectedRecord(*self.scene.place, figures, **rig.tag))
            _remark(rig, self._span)


def _span(scene: Scene) -> Span:
    rig, block, case = scene.rig, scene.block, scene.case
    if rig.spec.inject is None:
        return Span()
    pages = {target.name: page for target in rig.alive if (page := _page(target))}
    names = (case.name, case.test.name)
    numbers = {target.name: number for number, target in enumerate(rig.targets)}
    shares = {name: shares_of(rig.spec.inject, numbers[name], names, block) for name in pages}
    # bursts of a real server do not wait for our rows to begin
    phase = random.Random(f"{rig.spec.seed} {case.name} {block}").random()
    return Span(pages, shares, phase)


def _page(target: Target) -> Injection | None:
    return target.server.injection if isinstance(target.server, Daemon) else None


def _remark(rig: Rig, span: Span) -> None:
    """Whoever reads the figures has to know that a difference was made, and where it could not be."""
    for name, shares in span.shares.items():
        target = rig.by_name(name)
        if any(shares):
            rig.remark("slowed down on purpose: shares of CPU or IO were injected", target)
        if shares.io and (why := span.pages[name].io_refusal):
            rig.remark(f"no IO was injected: {span.pages[name].scratch} cannot be read directly ({why})", target)
