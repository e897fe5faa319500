"""N ranks in one process under a seeded schedule: the real engine, every interleaving reachable.

For fuzzing in CI: the scheduler decides who moves next. What can be interleaved is what can
happen in production: samples arriving, a rank entering a collective, a rank leaving it while
another is still inside, a batch entering the bounded queue, a training loop taking a batch, a
step of the loops that is itself a collective, a loop leaving early, a rank dying.

Rules kept here:
1. The engines are those of production; only the answers to their requests come from here.
2. One seed, one run. A run in which nobody can move is a `Deadlock`, with every rank's position.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dgap.protocol.errors import CollectiveFailed, DgapError

from .chunks import Fault, Sample
from .engine import Engine
from .intake import Intake
from .requests import (
    Deliver,
    End,
    Gather,
    Pull,
    Request,
    Restart,
    Share,
    SourceSignal,
    Total,
)
from .step import Step

Move = Callable[[], None]
ACTION_LIMIT = 1_000_000


class Deadlock(DgapError):
    """Nobody can move, or the run takes too long to be one that ends."""


@dataclass(kw_only=True)
class LoopbackRank:
    """One rank: its engine, its source, and its training loop.

    `passes` are the entries of one pass each; when they run out the last is read again.
    `leave_after` ends the loop early after so many steps; `die_after` kills the rank after so
    many answers to its engine.
    """

    engine: Engine
    intake: Intake
    passes: Sequence[Sequence[Sample | Fault]]
    leave_after: int | None = None
    die_after: int | None = None
    taken: list[tuple[Any, Step]] = field(default_factory=list)
    """What the training loop received."""
    error: BaseException | None = None
    """What the training loop raised at the end."""
    queue: deque[Deliver] = field(default_factory=deque)
    finished: bool = False
    """The engine has ended."""
    dead: bool = False
    left: bool = False
    iterator_ended: bool = False
    in_step: bool = False
    request: Request | None = None
    entered: bool = False
    answers: int = 0
    pass_index: int = 0
    unread: deque[Sample | Fault] = field(default_factory=deque)

    @property
    def loop_over(self) -> bool:
        """Whether the training loop takes no further step."""
        ended = self.finished or self.iterator_ended
        return self.dead or self.left or (ended and not self.queue)


class Loopback:
    """Runs ranks to their ends. `check` is called after every move.

    `order` says who moves next, as (rank, "engine" or "loop"); who cannot move then is passed
    over, and once it is used up the seed decides.
    """

    def __init__(
        self,
        ranks: Sequence[LoopbackRank],
        *,
        seed: int,
        queue_size: int,
        check: Callable[[Loopback], None] | None = None,
        order: Sequence[tuple[int, str]] = (),
    ) -> None:
        self.ranks = list(ranks)
        self.moves = 0
        self._random = random.Random(seed)
        self._queue_size = queue_size
        self._check = check
        self._order = deque(order)
        self._runs = [rank.engine.run() for rank in self.ranks]
        self._answers: dict[int, Any] = {}
        for index, rank in enumerate(self.ranks):
            rank.unread.extend(rank.passes[0])
            self._resume(index, None)

    def run(self) -> None:
        """Move until every rank is done. Raises Deadlock, and what an engine or `check` raises."""
        while not all(rank.dead or (rank.finished and rank.loop_over) for rank in self.ranks):
            moves = list(self._moves())
            if not moves or self.moves >= ACTION_LIMIT:
                raise Deadlock(f"after {self.moves} moves nobody can move: {self.describe()}")
            self._chosen(moves)()
            self.moves += 1
            if self._check is not None:
                self._check(self)

    def describe(self) -> str:
        """Where each rank stands, in one line."""
        return "; ".join(
            f"rank {index}: {type(rank.request).__name__}"
            f"{' (inside)' if rank.entered else ''}, queue {len(rank.queue)}, "
            f"{len(rank.taken)} steps{', finished' if rank.finished else ''}"
            for index, rank in enumerate(self.ranks)
        )

    def _chosen(self, moves: Sequence[tuple[int, str, Move]]) -> Move:
        while self._order:
            wanted = self._order.popleft()
            for rank, part, move in moves:
                if (rank, part) == wanted:
                    return move
        return self._random.choice(moves)[2]

    def _moves(self) -> Iterator[tuple[int, str, Move]]:
        for index, rank in enumerate(self.ranks):
            if rank.dead:
                continue
            if not rank.finished:
                move = self._engine_move(index, rank)
                if move is not None:
                    yield index, "engine", move
            if not rank.loop_over:
                move = self._loop_move(rank)
                if move is not None:
                    yield index, "loop", move

    def _engine_move(self, index: int, rank: LoopbackRank) -> Move | None:
        match rank.request:
            case Pull():
                return lambda: self._resume(index, self._pulled(rank))
            case Restart():
                return lambda: self._restart(index, rank)
            case End():
                return lambda: self._end_iterator(index, rank)
            case Deliver() as item:
                if rank.left or len(rank.queue) < self._queue_size:
                    return lambda: self._deliver(index, rank, item)
                return None
        if not rank.entered:
            return lambda: self._enter(rank)
        if any(peer.dead for peer in self.ranks) and index not in self._answers:
            return lambda: self._throw(index)
        return (lambda: self._leave(index)) if index in self._answers else None

    def _loop_move(self, rank: LoopbackRank) -> Move | None:
        if rank.leave_after is not None and len(rank.taken) >= rank.leave_after:
            return lambda: self._leave_loop(rank)
        if not rank.in_step:
            return (lambda: self._take(rank)) if rank.queue else None
        # A step is a collective of the loops that still run: it ends once all have entered it.
        steps = len(rank.taken)
        entered = all(len(peer.taken) >= steps for peer in self.ranks if not peer.loop_over)
        return (lambda: setattr(rank, "in_step", False)) if entered else None

    def _take(self, rank: LoopbackRank) -> None:
        item = rank.queue.popleft()
        rank.taken.append((item.batch, item.step))
        rank.in_step = True

    def _leave_loop(self, rank: LoopbackRank) -> None:
        rank.left = True
        rank.queue.clear()

    def _pulled(self, rank: LoopbackRank) -> list[Sample | Fault] | SourceSignal:
        if rank.left:
            return SourceSignal.LEFT
        while rank.unread:
            size = self._random.randint(1, min(3, len(rank.unread)))
            accepted = list(rank.intake.accept([rank.unread.popleft() for _ in range(size)]))
            if accepted:
                return accepted
        return SourceSignal.ENDED

    def _restart(self, index: int, rank: LoopbackRank) -> None:
        rank.pass_index += 1
        rank.unread = deque(rank.passes[min(rank.pass_index, len(rank.passes) - 1)])
        self._resume(index, None)

    def _end_iterator(self, index: int, rank: LoopbackRank) -> None:
        rank.iterator_ended = True
        self._resume(index, None)

    def _deliver(self, index: int, rank: LoopbackRank, item: Deliver) -> None:
        if not rank.left:
            rank.queue.append(item)
        self._resume(index, not rank.left)

    def _enter(self, rank: LoopbackRank) -> None:
        rank.entered = True
        if not self._answers and all(peer.entered for peer in self.ranks):
            self._complete()

    def _complete(self) -> None:
        """All are inside: what each gets is fixed now, when it leaves is not."""
        requests = [rank.request for rank in self.ranks]
        if len({type(request) for request in requests}) > 1:
            raise Deadlock(f"the ranks are in different collectives: {self.describe()}")
        for index in range(len(self.ranks)):
            self._answers[index] = _result(requests)

    def _leave(self, index: int) -> None:
        self.ranks[index].entered = False
        self._resume(index, self._answers.pop(index))

    def _throw(self, index: int) -> None:
        gone = tuple(rank for rank, peer in enumerate(self.ranks) if peer.dead)
        error = CollectiveFailed(f"rank {index}: a peer closed its connection", ranks=gone)
        self.ranks[index].entered = False
        self._advance(index, lambda: self._runs[index].throw(error))

    def _resume(self, index: int, answer: Any) -> None:
        rank = self.ranks[index]
        if rank.die_after is not None and rank.answers >= rank.die_after:
            rank.dead = True
            return
        rank.answers += 1
        self._advance(index, lambda: self._runs[index].send(answer))

    def _advance(self, index: int, run: Callable[[], Request]) -> None:
        rank = self.ranks[index]
        try:
            rank.request = run()
        except StopIteration as stop:
            rank.request = None
            rank.finished = True
            rank.error = None if rank.left or rank.iterator_ended else stop.value


def _result(requests: Sequence[Request | None]) -> Any:
    """What a collective answers, given the requests of all ranks in rank order."""
    first = requests[0]
    match first:
        case Gather():
            return [list(request.words) for request in requests if isinstance(request, Gather)]
        case Total():
            rows = [request.words for request in requests if isinstance(request, Total)]
            return [sum(column) for column in zip(*rows, strict=True)]
        case Share(_, origin):
            shared = requests[origin]
            return shared.payload if isinstance(shared, Share) else b""
    raise Deadlock(f"no collective: {first}")
