"""The board of a table as a person plays on it."""

import re

import pytest
from explorer_pages import AN_HOUR, Open, distance, drag, expect_position, piece, with_a_clock
from playwright.sync_api import expect

TILES = "/#/tiles?position=1 2 3 0 4 5"
"""Two moves from the start: first 4 and then 5 go left."""
KNOWN = re.compile("shortest path")
"""What stands beside the distance once the page knows a path: it plays this one, without asking for another."""


def test_a_click_moves_a_piece_that_can_move_and_the_distance_follows(open_page: Open) -> None:
    page = open_page(TILES)
    expect(page.locator(".move")).to_have_count(2)
    piece(page, "3").click()
    expect_position(page, "1 2 3 0 4 5")
    expect(distance(page)).to_have_text("2")
    piece(page, "4").click()
    expect(distance(page)).to_have_text("1")
    drag(page, "5", -0.25, 0)  # too short: it goes back
    expect_position(page, "1 2 3 4 0 5")
    expect(page.locator(".board g[transform]")).to_have_count(0)
    piece(page, "5").click()
    expect(distance(page)).to_have_text("0")
    expect(page.get_by_text("this is the start")).to_be_visible()


def test_an_unreachable_position_says_why(open_page: Open) -> None:
    page = open_page("/#/tiles?position=2 1 3 4 5 0")
    expect(page.get_by_text("unreachable from the start")).to_be_visible()
    expect(page.get_by_text("odd permutation: with the empty square back in its place")).to_be_visible()


@pytest.mark.slow
def test_an_empty_place_is_clicked_to_bring_a_piece_there(open_page: Open) -> None:
    page = open_page("/#/tiles")
    expect(page.locator(".move")).to_have_count(2)
    piece(page, "5").click()
    expect(distance(page)).to_have_text("1")
    expect(page.get_by_role("button", name="L: nearer, distance 0")).to_be_visible()  # the moves are known
    box = piece(page, "5").bounding_box()
    assert box
    page.mouse.click(box["x"] - box["width"] / 2, box["y"] + box["height"] / 2)  # two pieces can go there
    menu = page.get_by_role("group", name="Moves of this piece")
    expect(menu.get_by_role("button")).to_have_count(3)
    menu.get_by_role("button", name="nearer").click()
    expect(distance(page)).to_have_text("0")


@pytest.mark.slow
def test_a_drag_chooses_among_the_moves_of_a_piece(open_page: Open) -> None:
    page = open_page("/#/jumps")
    expect(page.locator(".move")).to_have_count(4)
    drag(page, "C", 1, 0)
    expect_position(page, "AB-C------DE")
    drag(page, "C", 0, 1)
    expect_position(page, "AB-----C--DE")


@pytest.mark.slow
def test_arrow_keys_move_the_piece_beside_the_empty_place(open_page: Open) -> None:
    page = open_page(TILES)
    expect(distance(page)).to_have_text("2")
    page.keyboard.press("ArrowLeft")
    expect(distance(page)).to_have_text("1")
    page.keyboard.press("ArrowDown")
    expect(distance(page)).to_have_text("2")
    expect_position(page, "1 0 3 4 2 5")


@pytest.mark.slow
def test_one_way_moves_are_not_said_to_lead_nearer(open_page: Open) -> None:
    page = open_page("/#/one-way")
    expect(distance(page)).to_have_text("0")
    page.locator("#entry").fill("A A A A")
    page.locator("#entry").press("Enter")
    expect(distance(page)).to_have_text("4")
    moves = page.get_by_role("group", name="Legal moves").get_by_role("button")
    expect(moves).to_have_count(2)
    expect(moves.nth(0)).to_have_attribute("aria-label", "A: distance 0")
    expect(moves.nth(1)).to_have_attribute("aria-label", "B: distance 5")
    expect(page.locator(".nearer, .farther")).to_have_count(0)
    expect(page.get_by_text("each number is the distance from the start after the move")).to_be_visible()
    expect(page.get_by_text("nearer")).to_have_count(0)
    expect(page.get_by_role("button", name="Best move")).to_have_count(0)
    expect(page.locator(".hint")).not_to_contain_text("Space")
    page.locator("#entry").blur()
    page.keyboard.press("Space")
    page.keyboard.press("a")
    expect(distance(page)).to_have_text("0")


@pytest.mark.slow
def test_a_move_that_changes_nothing_shows_zero(open_page: Open) -> None:
    page = open_page("/#/twisty?position=2 3 1 4 / 1 0 2 0")
    expect(page.get_by_role("button", name="U: as far, distance 8")).to_contain_text("0")


@pytest.mark.slow
def test_a_light_is_pressed(open_page: Open) -> None:
    page = open_page("/#/lights")
    expect(page.locator(".move")).to_have_count(9)
    page.locator(".board g.piece").nth(4).click()
    expect(distance(page)).to_have_text("1")
    expect_position(page, "010/111/010")


@pytest.mark.slow
def test_space_makes_one_best_move(open_page: Open) -> None:
    page = open_page(TILES)
    expect(page.locator(".move")).to_have_count(2)
    page.keyboard.press("Space")
    expect(distance(page)).to_have_text("1")
    page.keyboard.press("Space")
    expect(distance(page)).to_have_text("0")
    page.keyboard.press("Space")
    expect(page.locator("#said")).to_have_text("This is the start")


def test_the_shortest_path_is_played_and_paused(open_page: Open) -> None:
    page = open_page("/#/pancakes?position=5 1 4 2 3", with_a_clock, fresh=True)
    play = page.get_by_role("button", name="Play a shortest path to the start")
    expect(page.locator(".paths")).to_have_text(KNOWN)
    page.clock.pause_at(AN_HOUR)
    far = int(distance(page).inner_text())
    seen = max(1, page.locator(".trail .point").count())  # a trail of one position is not drawn
    play.click()
    pause = page.get_by_role("button", name="Pause")
    expect(pause).to_be_visible()
    page.clock.run_for(700)
    expect(distance(page)).to_have_text(str(far - 1))
    pause.click()
    page.clock.run_for(5000)
    expect(distance(page)).to_have_text(str(far - 1))
    expect(page.locator(".paths")).to_have_text(KNOWN)
    play.click()
    expect(pause).to_be_visible()
    page.clock.run_for(10_000)
    expect(distance(page)).to_have_text("0")
    expect(play).to_be_disabled()
    expect(page.locator(".trail .point")).to_have_count(seen + far)


@pytest.mark.slow
def test_no_path_is_offered_before_the_position_is_known(open_page: Open) -> None:
    page = open_page(TILES, lambda page: page.route("**/view?*", lambda route: None))
    expect(page.get_by_role("tab", name="Moves")).to_be_visible()
    expect(page.locator(".path-part")).to_have_count(1)
    expect(page.get_by_role("button", name="Show a shortest path")).to_have_count(0)


@pytest.mark.slow
def test_the_shortest_paths_are_counted_and_one_is_shown_as_boards(open_page: Open) -> None:
    page = open_page(TILES)
    expect(page.locator(".paths")).to_have_text("1 shortest path")
    page.get_by_role("button", name="Show a shortest path").click()
    boards = page.get_by_role("region", name="Boards of the path").get_by_role("button")
    expect(boards).to_have_count(3)
    expect(page.locator(".sequence")).to_have_text("L L")
    boards.nth(1).click()
    expect_position(page, "1 2 3 4 0 5")


def test_undo_redo_and_the_history(open_page: Open) -> None:
    page = open_page(TILES)
    expect(page.locator(".move")).to_have_count(2)
    for after in ("1", "0"):
        page.keyboard.press("Space")
        expect(distance(page)).to_have_text(after)
    page.get_by_role("button", name="Undo").click()
    expect(distance(page)).to_have_text("1")
    page.keyboard.press("Control+z")
    expect(distance(page)).to_have_text("2")
    page.keyboard.press("Control+Shift+z")
    expect(distance(page)).to_have_text("1")
    page.get_by_role("button", name="step 2, L: distance 0").click()
    expect_position(page, "1 2 3 4 5 0")
    page.get_by_role("button", name="step 0: distance 2").click()
    expect_position(page, "1 2 3 0 4 5")


@pytest.mark.slow
def test_back_in_the_browser_takes_a_move_back(open_page: Open) -> None:
    page = open_page(TILES)
    expect(page.locator(".move")).to_have_count(2)
    page.keyboard.press("Space")
    expect(distance(page)).to_have_text("1")
    page.go_back()
    expect(distance(page)).to_have_text("2")
    page.go_forward()
    expect(distance(page)).to_have_text("1")


@pytest.mark.slow
def test_moves_without_a_way_back_play_from_the_start(open_page: Open) -> None:
    page = open_page("/#/one-way?position=2 3 4 0 1", with_a_clock, fresh=True)
    expect(page.get_by_role("heading", name="One move before")).to_be_visible()
    expect(distance(page)).to_have_text("3")
    page.clock.pause_at(AN_HOUR)
    page.get_by_role("button", name="Play a shortest path from the start to here").click()
    expect(distance(page)).to_have_text("0")
    page.clock.run_for(5000)
    expect(distance(page)).to_have_text("3")
    expect_position(page, "2 3 4 0 1")


@pytest.mark.slow
def test_equal_blocks_are_named_as_the_position_is_written(open_page: Open) -> None:
    page = open_page("/#/blocks?position=AABC/AAD./E.FF")
    expect(page.locator(".move")).not_to_have_count(0)
    drag(page, "C", 0, 1)
    expect_position(page, "AAB./AACD/E.FF")
    expect(page.locator(".board g.piece text").nth(3)).to_have_text("D")
    expect(page.get_by_role("button", name="d2-up: nearer")).to_be_visible()
    left, right = (piece(page, letter).bounding_box() for letter in "CD")
    assert left
    assert right
    assert left["x"] < right["x"]
