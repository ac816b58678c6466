"""The graph of a table as a person looks at it, with the mouse, the keyboard and the eyes of a screen reader."""

import math
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from browsers import violations
from explorer_pages import Open, distance, expect_position, visit
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.slow  # a page in the browser takes seconds of CPU time

HANOI = "/#/hanoi?view=graph"
WITHOUT_WEBGL = """
const original = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind.startsWith("webgl") ? null : original.call(this, kind, ...rest);
};
"""
SLOW = """
const original = requestAnimationFrame;
window.requestAnimationFrame = (act) => window.isSlow ? setTimeout(() => original(act), 150) : original(act);
"""
INK = """canvas => {
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const pen = copy.getContext("2d");
  pen.drawImage(canvas, 0, 0);
  return pen.getImageData(0, 0, copy.width, copy.height).data.filter((byte, at) => at % 4 === 3 && byte > 40).length;
}"""
"""How many pixels are drawn, right after a frame."""


@pytest.fixture
def open_tall(open_page: Open) -> Open:
    """Opens a page whose window shows the whole graph."""
    return partial(open_page, viewport={"width": 1280, "height": 1900})


def without_webgl(page: Page) -> None:
    page.add_init_script(WITHOUT_WEBGL)


def stage(page: Page) -> Locator:
    return page.locator(".graph-stage[data-drawing]")


def spot(page: Page) -> Locator:
    """The mark at the position on the board."""
    return page.locator(".graph-spot")


def corner(page: Page) -> tuple[float, float]:
    """The upper left corner of the stage in the window, inside its border."""
    left, top = stage(page).evaluate(
        "one => [one.getBoundingClientRect().left + one.clientLeft, one.getBoundingClientRect().top + one.clientTop]"
    )
    return left, top


def middle(page: Page) -> tuple[float, float]:
    """Where that mark stands on the stage."""
    box, (left, top) = spot(page).bounding_box(), corner(page)
    assert box
    return box["x"] - left, box["y"] - top


def point_at(page: Page, place: tuple[float, float]) -> None:
    """Move the mouse to a place of the stage."""
    left, top = corner(page)
    page.mouse.move(left + place[0], top + place[1])


def press_mouse(page: Page) -> None:
    page.mouse.down()
    page.mouse.up()


def first_depth(page: Page) -> Locator:
    """The uppermost depth of the ruler."""
    return page.locator(".graph-ruler button:not([hidden])").first


def place_of(page: Page, depth: int) -> tuple[float, float]:
    """Where the position on the board stands, which is at a depth."""
    expect(spot(page).locator(".graph-label")).to_have_text(str(depth))
    return middle(page)


def drawn(page: Page) -> Any:
    """The pixels of a frame that a change of the size has brought about."""
    return page.evaluate(
        f"""() => new Promise((done) => {{
          const scroll = document.querySelector(".graph-stage");
          scroll.dispatchEvent(new WheelEvent("wheel", {{deltaY: 0, cancelable: true}}));
          requestAnimationFrame(() => done(({INK})(scroll.querySelector("canvas"))));
        }})"""
    )


def test_without_webgl_a_plain_canvas_shows_the_same(open_page: Open) -> None:
    page = open_page(HANOI, without_webgl, fresh=True)
    expect(stage(page)).to_have_attribute("data-drawing", "canvas")
    place_of(page, 0)
    assert drawn(page) > 1000


def test_a_small_graph_is_drawn_whole_also_when_the_graphics_card_is_taken_away(open_page: Open) -> None:
    page = open_page(HANOI)
    expect(stage(page)).to_have_attribute("data-drawing", "WebGL")
    expect(page.locator(".graph-words")).to_have_text("27 positions, 39 moves, 8 layers")
    assert place_of(page, 0)[1] < 60
    assert drawn(page) > 1000
    page.locator(".graph-stage canvas").evaluate(
        "canvas => canvas.getContext('webgl2').getExtension('WEBGL_lose_context').loseContext()"
    )
    expect(stage(page)).to_have_attribute("data-drawing", "canvas")
    assert drawn(page) > 1000


def test_where_frames_come_late_a_plain_canvas_takes_over(open_page: Open) -> None:
    page = open_page(HANOI, lambda page: page.add_init_script(SLOW), fresh=True)
    expect(stage(page)).to_have_attribute("data-drawing", "WebGL")
    place_of(page, 0)
    page.evaluate("window.isSlow = true")  # only now, since the first frames would be late enough
    point_at(page, (300, 200))
    for zoom in range(50):
        page.mouse.wheel(0, -1 if zoom % 2 else 1)
        page.evaluate("new Promise(requestAnimationFrame)")
        if stage(page).get_attribute("data-drawing") == "canvas":
            break
    expect(stage(page)).to_have_attribute("data-drawing", "canvas")


def test_a_click_on_a_position_goes_there_and_hovering_shows_it(open_tall: Open) -> None:
    page = open_tall(f"{HANOI}&position=2 2 2")
    far = place_of(page, 7)
    page.get_by_role("button", name="Start", exact=True).click()
    place_of(page, 0)
    point_at(page, far)
    expect(page.locator(".graph-tip")).to_contain_text("distance 7")
    expect(page.locator(".graph-tip svg")).to_be_visible()
    press_mouse(page)
    expect_position(page, "2 2 2")
    expect(distance(page)).to_have_text("7")
    assert middle(page) == pytest.approx(far, abs=1)


def test_arrow_keys_go_along_the_edges(open_page: Open) -> None:
    page = open_page(HANOI)
    place_of(page, 0)
    stage(page).focus()
    for depth in (1, 2, 3):
        page.keyboard.press("ArrowDown")
        place_of(page, depth)
    expect(distance(page)).to_have_text("3")
    page.keyboard.press("ArrowUp")
    place_of(page, 2)


def test_the_picture_is_dragged_and_enlarged_and_fitted(open_tall: Open) -> None:
    page = open_tall(f"{HANOI}&position=2 2 2")
    x, y = place_of(page, 7)
    point_at(page, (x, y - 200))
    page.mouse.down()
    point_at(page, (x - 20, y - 230))
    point_at(page, (x - 40, y - 260))
    page.mouse.up()
    expect(spot(page)).to_have_css("transform", f"matrix(1, 0, 0, 1, {x - 40:g}, {y - 60:g})")
    expect_position(page, "2 2 2")  # a drag is no click
    stage(page).press("0")
    expect(spot(page)).to_have_css("transform", f"matrix(1, 0, 0, 1, {x:g}, {y:g})")
    point_at(page, (x, y))
    page.mouse.wheel(0, -600)
    expect(first_depth(page)).not_to_have_text("0")
    assert middle(page) == pytest.approx((x, y), abs=3)  # what is under the pointer stays there
    page.get_by_role("button", name="Fit").click()
    expect(first_depth(page)).to_have_text("0")


def test_a_depth_is_one_for_the_graph_and_the_distribution(open_page: Open) -> None:
    page = open_page("/#/hanoi?view=distribution")
    expect(distance(page)).to_have_text("0")  # the chart is drawn anew with the mark of the position
    page.get_by_role("button", name=re.compile("^depth 3:")).click()
    page.get_by_role("tab", name="Graph").click()
    field = page.get_by_label("Depth", exact=True)
    expect(field).to_have_value("3")
    expect(page.locator(".graph-ruler .chosen")).to_have_text("3")
    page.locator(".graph-ruler button", has_text=re.compile("^5$")).click()
    expect(field).to_have_value("5")
    page.get_by_role("tab", name="Distribution").click()
    expect(page.get_by_role("button", name=re.compile("^depth 5:"))).to_have_attribute("aria-pressed", "true")


def test_the_neighbours_are_links(open_page: Open) -> None:
    page = open_page(HANOI)
    page.get_by_text("The graph as text").click()
    expect(page.locator(".graph-text")).to_contain_text(
        "27 positions and 39 moves between them, in 8 layers, from depth 0 to 7"
    )
    links = page.locator(".graph-near a")
    expect(links).to_have_count(2)
    expect(links.first).to_contain_text("distance 1")
    links.first.click()
    expect(distance(page)).to_have_text("1")
    expect(links).to_have_count(3)


def test_of_a_large_graph_the_neighbourhood_follows_the_board(open_page: Open) -> None:
    page = open_page("/#/eight-puzzle?view=graph&position=8 6 7 2 5 4 3 0 1")
    expect(page.locator(".graph-words")).to_contain_text("2,000 positions around the one on the board")
    place_of(page, 31)
    page.get_by_role("button", name="Start", exact=True).click()
    place_of(page, 0)
    expect(page.locator(".graph-ruler button").first).to_have_text("0")


def test_one_way_moves_and_unfinished_tables(open_page: Open) -> None:
    page = open_page("/#/pawns?view=graph")
    expect(page.locator(".graph-words")).to_contain_text("102 one-way moves")
    visit(page, "/#/unfinished?view=graph")
    expect(page.locator(".graph-words")).to_contain_text("4 layers")


ACROSS = """([x, y, right, down]) => new Promise((done) => {
  const canvas = document.querySelector(".graph-stage canvas");
  document.querySelector(".graph-stage").dispatchEvent(new WheelEvent("wheel", {deltaY: 0, cancelable: true}));
  requestAnimationFrame(() => {
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const pen = copy.getContext("2d");
    pen.drawImage(canvas, 0, 0);
    const ratio = canvas.width / canvas.clientWidth;
    let inked = 0;
    for (let step = -8; step <= 8; step += 0.5) {
      const at = [x - step * down, y + step * right].map((one) => Math.round(one * ratio));
      inked += pen.getImageData(...at, 1, 1).data[3] > 60 ? 0.5 : 0;
    }
    done(inked);
  });
})"""
"""How many pixels are drawn across a way, at a point of it."""


@pytest.mark.parametrize("drawing", ["WebGL", "canvas"])
def test_arrows_point_where_one_way_moves_lead(open_tall: Open, drawing: str) -> None:
    page = open_tall("/#/pawns?view=graph", without_webgl if drawing == "canvas" else None, fresh=True)
    expect(stage(page)).to_have_attribute("data-drawing", drawing)
    ahead, behind = widths_of_an_edge(page)
    assert behind >= ahead + 3  # the head is wide where it begins, and ends in a point
    visit(page, HANOI)
    expect(page.locator(".graph-words")).to_have_text("27 positions, 39 moves, 8 layers")
    ahead, behind = widths_of_an_edge(page)
    assert abs(behind - ahead) <= 1.5


def widths_of_an_edge(page: Page) -> tuple[float, float]:
    """How wide an edge from the start is drawn, a little after the point of its head and a little before."""
    (x, y) = place_of(page, 0)
    stage(page).focus()
    page.keyboard.press("ArrowDown")
    (end_x, end_y) = place_of(page, 1)
    page.get_by_role("button", name="Start", exact=True).click()
    place_of(page, 0)
    long = math.hypot(end_x - x, end_y - y)
    right, down = (end_x - x) / long, (end_y - y) / long
    places = [(x + far * right, y + far * down) for far in (0.6 * long + 3, 0.6 * long - 8)]
    ahead, behind = (float(page.evaluate(ACROSS, [*place, right, down])) for place in places)
    return ahead, behind


def test_an_address_with_a_depth_that_is_none_highlights_nothing(open_page: Open) -> None:
    page = open_page(f"{HANOI}&depth=deep")
    place_of(page, 0)
    expect(page.get_by_label("Depth", exact=True)).to_have_value("")
    expect(page.locator(".graph-ruler .chosen")).to_have_count(0)


def test_the_theme_changes_the_colours(open_page: Open) -> None:
    page = open_page(HANOI, fresh=True)
    place_of(page, 0)
    tick = page.locator(".graph-ruler button").first
    light = tick.get_attribute("style")
    page.emulate_media(color_scheme="dark")
    expect(tick).not_to_have_attribute("style", light or "")


def test_two_fingers_enlarge_the_picture(open_page: Open) -> None:
    page = open_page(HANOI, viewport={"width": 390, "height": 1600}, has_touch=True)
    place_of(page, 0)
    expect(first_depth(page)).to_have_text("0")
    left, top = corner(page)
    fingers = page.context.new_cdp_session(page)

    def touch(kind: str, *places: tuple[float, float]) -> None:
        points = [{"x": left + x, "y": top + y, "id": finger} for finger, (x, y) in enumerate(places)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", (180, 300), (180, 400))
    touch("touchMove", (180, 200), (180, 400))
    touch("touchMove", (180, 200), (180, 500))
    touch("touchEnd")
    expect(first_depth(page)).not_to_have_text("0")
    expect_position(page, "0 0 0")


def test_the_picture_is_saved(open_page: Open) -> None:
    page = open_page(HANOI)
    place_of(page, 0)
    with page.expect_download() as png:
        page.get_by_role("button", name="PNG", exact=True).click()
    assert png.value.suggested_filename == "hanoi-graph.png"
    assert Path(png.value.path()).read_bytes().startswith(b"\x89PNG")
    assert drawn(page) > 1000


def test_the_graph_has_no_serious_violation(open_page: Open) -> None:
    page = open_page(f"{HANOI}&depth=3")
    place_of(page, 0)
    page.get_by_text("The graph as text").click()
    assert violations(page) == {}
