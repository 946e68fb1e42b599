"""Where things stand in the swim-lane picture of a view: lanes, rows, bars of asynchronous work. Pixels."""

from ptxlint.records import record
from ptxlint.show.model import Item, View

LANE_WIDTH = 276
ROW_HEIGHT = 30
BOX_HEIGHT = 24
HEAD = 46
MARGIN = 12
BAR_WIDTH = 12
BAR_GAP = 4
UNIT_LANE = 132


@record
class Box:
    """An item as a box."""

    item: Item
    x: int
    y: int
    width: int


@record
class Bar:
    """An asynchronous operation in flight: from its issue to where somebody knows that it is complete."""

    item: Item
    x: int
    top: int
    bottom: int
    is_open: bool


@record
class Drawing:
    """The picture: its size, the lanes (identity, title, left edge), boxes and bars."""

    width: int
    height: int
    lanes: tuple[tuple[str, str, int], ...]
    boxes: tuple[Box, ...]
    bars: tuple[Bar, ...]

    def box(self, identity: str) -> Box | None:
        """Return the box of the item called *identity*."""
        return next((box for box in self.boxes if box.item.id == identity), None)


_FLYING = ("load", "store", "copy", "multiply")
UNIT = "async"


def draw(view: View) -> Drawing:
    """Lay out one turn of *view*: a lane a role, one for the asynchronous units, time downwards."""
    roles = [role for role in view.roles if any(item.role == role.id for item in view.items)]
    flying = [item for item in view.items if item.kind in _FLYING]
    lanes: list[tuple[str, str, int]] = []
    x = MARGIN
    for role in roles:
        lanes.append((role.id, role.title, x))
        x += LANE_WIDTH
    left = {identity: at for identity, _, at in lanes}
    boxes = [
        Box(item, left[item.role] + 6, HEAD + row * ROW_HEIGHT, LANE_WIDTH - 18)
        for row, item in enumerate(view.items)
    ]
    bottom = HEAD + len(boxes) * ROW_HEIGHT + MARGIN
    bars: list[Bar] = []
    if flying:
        lanes.append((UNIT, "async units", x))
        ends: dict[str, int] = {}
        at = {box.item.id: box.y for box in boxes}
        for arrow in view.arrows:
            if arrow.kind in ("completion", "group") and not arrow.wraps:
                ends[arrow.start] = max(ends.get(arrow.start, 0), at[arrow.end] + BOX_HEIGHT // 2)
        columns: list[int] = []
        for item in flying:
            top = at[item.id] + BOX_HEIGHT // 2
            end = ends.get(item.id)
            low = bottom - MARGIN if end is None else end
            column = next((n for n, free in enumerate(columns) if free <= top), len(columns))
            if column == len(columns):
                columns.append(0)
            columns[column] = low + 2
            bars.append(
                Bar(item, x + 8 + column * (BAR_WIDTH + BAR_GAP), top, max(low, top + 8), end is None)
            )
        x += max(UNIT_LANE, 16 + len(columns) * (BAR_WIDTH + BAR_GAP))
    return Drawing(x + MARGIN, bottom, tuple(lanes), tuple(boxes), tuple(bars))
