"""The page in a real browser. Without one these tests are skipped; TIGHTCUT_REQUIRE_BROWSER=1 makes that a failure."""

import json
import re

import pytest

WAIT = 60_000  # milliseconds: machines may be busy


def spoken(page):
    return page.locator("[aria-live]").inner_text()


def wait_for_another_question(page, before):
    page.wait_for_function("before => document.querySelector('[aria-live]').textContent !== before", arg=before)


def rows_asked(page):
    sources = page.locator(".question .thing img").evaluate_all("images => images.map(image => image.src)")
    return [int(source.rpartition("/")[2]) for source in sources]


def press(page, key):
    before = spoken(page)
    page.keyboard.press(key)
    wait_for_another_question(page, before)


def answer_truly(page, truth):
    first, second = rows_asked(page)
    press(page, "y" if truth[first] == truth[second] else "n")


def wait_for_answers(page, count):
    page.wait_for_function(
        "count => document.querySelectorAll('.answers li:not(.none)').length === count", arg=count, timeout=WAIT
    )


def test_pairs_by_key(window, running, kit):
    page = window(running.address + "#pair")
    for _ in range(4):
        answer_truly(page, kit.truth)
    press(page, " ")
    wait_for_answers(page, 5)
    choices = [given.choice for given in running.controller.session.answers]
    assert choices[-1] == "unsure"
    assert all(given.seconds is not None for given in running.controller.session.answers)
    for given in running.controller.session.answers[:-1]:
        assert (given.choice == "same") == (kit.truth[given.first] == kit.truth[given.second])


def test_pairs_by_click(window, running):
    page = window(running.address + "#pair")
    before = spoken(page)
    page.get_by_role("button", name="Different").click()
    wait_for_another_question(page, before)
    # The button is gone; space must not press what took its place.
    press(page, " ")
    assert [given.choice for given in running.controller.session.answers] == ["different", "unsure"]


def test_picks_by_key_click_and_name(window, running):
    page = window(running.address + "#pick")
    press(page, "0")
    press(page, "2")
    before = spoken(page)
    page.keyboard.press("t")
    page.keyboard.type("y n 10")  # no key of these is an answer while a name is typed
    page.keyboard.press("Enter")
    wait_for_another_question(page, before)
    for _ in range(2):  # the groups without a name that were on the screen
        press(page, "0")
    before = spoken(page)
    page.locator(".question .card", has_text="y n 10").click()
    wait_for_another_question(page, before)
    answers = running.controller.session.answers
    named = next(group.id for group in running.controller.session.groups if group.name == "y n 10")
    assert [answers[0].choice, answers[2].founds, answers[5].choice] == ["none", named, named]


def test_nothing_can_be_clicked_before_the_first_question(browser, kit):
    from tightcut.ask.page.controller import Controller

    controller = Controller(kit.make_controller().things, title="Three heaps")  # its session never comes
    running = kit.serve(controller)
    page = browser.new_page()
    page.goto(running.address)
    page.get_by_text("Looking for neighbours among 90 pictures").wait_for(timeout=WAIT)
    assert page.title() == "Three heaps · tightcut ask"
    assert not any(button.is_visible() for button in page.get_by_role("button").all())
    page.close()
    running.stop()


def test_undo_by_key_and_click(window, running):
    page = window(running.address + "#pair")
    press(page, "y")
    press(page, "n")
    before = spoken(page)
    page.keyboard.press("Backspace")
    wait_for_another_question(page, before)
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function("() => document.querySelector('.notice').textContent.includes('Undone')")
    wait_for_answers(page, 0)
    assert running.controller.session.n_answers_ == 0
    page.keyboard.press("Backspace")
    page.wait_for_function("() => document.querySelector('.notice').textContent.includes('nothing to undo')")


def test_the_space_bar_does_not_undo_twice(window, running):
    """After a click on Undo the space bar still means unsure."""
    page = window(running.address + "#pair")
    press(page, "y")
    press(page, "n")
    before = spoken(page)
    page.get_by_role("button", name="Undo").click()
    wait_for_another_question(page, before)
    press(page, " ")
    wait_for_answers(page, 2)
    assert [given.choice for given in running.controller.session.answers] == ["same", "unsure"]


def test_a_picture_that_cannot_be_drawn_has_words(window, kit, tmp_path):
    from tightcut.ask.page.items import Things
    from tightcut.drawing.pictures import FilePictures

    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no picture")
    controller = kit.make_controller(things=Things(kit.names(), pictures=FilePictures([broken] * 90)))
    running = kit.serve(controller)
    page = window(running.address + "#pair")
    page.wait_for_selector(".thing .unreadable")
    assert "cannot be shown" in page.locator(".thing").first.inner_text()
    page.wait_for_selector(".gallery .item .unreadable")
    running.stop()


def test_an_empty_cell_says_so(window, kit):
    from tightcut.ask.page.items import Things

    controller = kit.make_controller(things=Things(kit.names(), fields={"town": ["", "Ulm"] * 45}))
    running = kit.serve(controller)
    page = window(running.address + "#pair")
    for _ in range(3):
        towns = page.locator(".question .fields tr:not(.names) td").all_inner_texts()
        assert set(towns) <= {"empty", "Ulm"}
        press(page, "y")
    running.stop()


def test_every_answer_can_be_changed(window, running):
    session = running.controller.session
    for row in range(45):
        session.move(row, f"class {row // 30}")
    page = window(running.address + "#pair")
    page.get_by_role("button", name="Show all 45 answers").click()
    page.wait_for_function("() => document.querySelectorAll('.answers .words').length === 45")
    press(page, "y")
    wait_for_answers(page, 46)
    assert page.locator(".answers .words").count() == 46


def test_reload_and_resume(window, running):
    page = window(running.address + "#pair")
    press(page, "y")
    press(page, "n")
    wait_for_answers(page, 2)
    before, rows = spoken(page), rows_asked(page)
    page.reload()
    page.wait_for_selector(".choices")
    wait_for_answers(page, 2)
    assert (spoken(page), rows_asked(page)) == (before, rows)


def test_a_contradiction_is_shown_and_resolved(window, running, kit):
    """Two things of one group are said to be different."""
    from tightcut.ask import Question

    session = running.controller.session
    for _ in range(30):
        question = session.question()
        if question is None:
            break
        same = kit.truth[question.first] == kit.truth[question.second]
        session.answer(question, "same" if same else "different")
    first, second = max((group.members for group in session.groups), key=len)[:2]
    session.answer(Question(1000, "pair", first, second, (), "by hand"), "different")
    assert [found.suspect.number for found in session.contradictions()] == [1000]
    page = window(running.address + "#pick")
    page.wait_for_selector(".contradictions li.suspect")
    suspect = page.locator(".contradictions li.suspect")
    assert "believed least" in suspect.inner_text()
    suspect.get_by_role("button", name="Change").click()
    page.locator("dialog").get_by_role("button", name="Unsure").click()
    page.wait_for_selector(".contradictions", state="hidden")
    assert not session.contradictions()


def test_an_answer_is_changed_and_a_thing_is_moved(window, running):
    page = window(running.address + "#pair")
    press(page, "n")
    wait_for_answers(page, 1)
    page.locator(".answers").get_by_role("button", name="Change").click()
    page.locator("dialog").get_by_role("button", name="Same").click()
    page.wait_for_function("() => document.querySelector('.answers .words').textContent === 'same'")
    press(page, "n")
    wait_for_answers(page, 2)
    page.locator(".gallery").first.locator(".item").first.click()
    page.locator("dialog").get_by_role("button", name="None of the groups").click()
    wait_for_answers(page, 3)
    assert running.controller.session.answers[-1].kind == "move"


def test_a_group_gets_a_name_and_hostile_names_stay_text(window, running, kit):
    page = window(running.address + "#pair")
    running.controller.session.move(0, "none")
    field = page.locator(".gallery input").first
    field.fill(kit.hostile[:60])
    field.press("Enter")
    page.locator("input[value=pick]").check(force=True)
    page.wait_for_function(
        "name => [...document.querySelectorAll('.card .label')].some(label => label.textContent === name)",
        arg=kit.hostile[:60],
    )
    wait_for_answers(page, 1)
    assert kit.hostile in page.locator(".answers .words").first.get_attribute("title")
    assert page.locator("#tightcut-ask script").count() == 0
    assert running.controller.session.groups[0].name == kit.hostile[:60]


def test_a_name_that_is_refused_goes(window, running):
    page = window(running.address + "#pick")
    press(page, "0")
    page.wait_for_function("() => document.querySelectorAll('.gallery').length === 2")
    field = page.locator(".gallery input").first
    field.fill("none")
    field.press("Enter")
    page.wait_for_function("() => document.querySelector('.notice').textContent.includes('cannot be named')")
    assert page.locator(".gallery input").first.input_value() == ""


def test_escape_gives_up_a_name(window, running):
    page = window(running.address + "#pick")
    field = page.locator(".gallery input").first
    field.focus()
    page.keyboard.type("a name that I do not want")
    page.keyboard.press("Escape")
    press(page, "0")
    assert field.input_value() == ""
    assert {group.name for group in running.controller.session.groups} == {None}


def test_two_groups_that_get_one_name_are_one(window, running):
    page = window(running.address + "#pick")
    press(page, "0")
    page.wait_for_function("() => document.querySelectorAll('.gallery').length === 2")
    running.controller.session.name(1, "uprights")
    field = page.locator(".gallery input").first
    field.fill("uprights")
    field.press("Enter")
    page.wait_for_function("() => document.querySelectorAll('.gallery').length === 1")
    assert "are one now" in page.locator(".notice").text_content()


def test_a_gallery_that_was_opened_stays_open(window, running, kit):
    session = running.controller.session
    for _ in range(10):
        question = session.question("pick")
        session.answer(question, f"class {kit.truth[question.first]}")
    group = max(session.groups, key=lambda one: one.size)
    page = window(running.address + "#pair")
    gallery = page.locator(".gallery").filter(has_text=f"{group.size} pictures").first
    gallery.get_by_role("button", name="Show more").click()
    shown = (
        "() => Math.max(...[...document.querySelectorAll('.gallery')].map(one => one.querySelectorAll('.item').length))"
    )
    page.wait_for_function(f"() => ({shown})() > 14")
    press(page, "y")
    wait_for_answers(page, session.n_answers_)
    assert page.evaluate(shown) > 14
    page.get_by_role("button", name="Show less").click()
    page.wait_for_function(f"() => ({shown})() <= 14")


def test_a_dead_server_without_a_journal_promises_nothing(window, kit):
    controller = kit.make_controller()
    first = kit.serve(controller)
    page = window(first.address + "#pair")
    press(page, "y")
    first.stop()
    page.keyboard.press("n")
    page.wait_for_selector(".banner:not([hidden])")
    text = page.locator(".banner").inner_text()
    assert "in its memory only" in text
    assert "--answers" in text
    assert "is kept" not in text


def test_foreign_scripts_do_not_run(window, running):
    page = window(running.address)
    page.evaluate(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s)"
    )
    assert not page.evaluate("window.hacked")


def test_a_dead_server_loses_nothing(window, controller, answers, kit):
    first = kit.serve(controller)
    page = window(first.address + "#pair")
    press(page, "y")
    first.stop()
    page.keyboard.press("n")
    page.wait_for_selector(".banner:not([hidden])")
    text = page.locator(".banner").inner_text()
    assert "does not answer" in text
    assert str(answers) in text
    assert "not been accepted yet" in text
    assert page.locator(".question .thing").count() == 2
    assert controller.session.n_answers_ == 1
    # It is back at the same address, as after a suspended process: the waiting answer arrives, once.
    port, token = re.fullmatch(r"http://127.0.0.1:(\d+)/(.*)/", first.address).groups()
    second = kit.serve(controller, int(port), token)
    page.wait_for_selector(".banner", state="hidden")
    wait_for_answers(page, 2)
    assert [given.choice for given in controller.session.answers] == ["same", "different"]
    second.stop()


@pytest.mark.slow
def test_a_lost_journal_is_told_before_the_next_answer(window, running, answers):
    page, other = (window(running.address + "#pair") for _ in range(2))
    press(page, "y")
    answers.unlink()
    for one in (page, other):
        one.wait_for_selector(".banner:not([hidden])")
        assert f"{answers} was deleted or moved. tightcut still has all answers" in one.locator(".banner").inner_text()
    page.keyboard.press("n")
    page.wait_for_function("() => document.querySelector('.notice').textContent.includes('deleted or moved')")
    page.get_by_role("button", name="Write all answers to a new journal").click()
    for one in (page, other):
        one.wait_for_selector(".banner", state="hidden")
    press(page, "n")
    wait_for_answers(page, 2)
    assert [json.loads(line)["choice"] for line in answers.read_text().splitlines()[1:]] == ["same", "different"]


@pytest.mark.slow
def test_two_servers_of_one_journal(window, running, answers, kit):
    controller = kit.make_controller(answers)
    second = kit.serve(controller)
    one, other = (window(address + "#pair") for address in (running.address, second.address))
    press(one, "y")
    wait_for_answers(other, 1)
    press(other, "n")
    wait_for_answers(one, 2)
    second.stop()
    assert [given.choice for given in running.controller.session.answers] == ["same", "different"]


@pytest.mark.parametrize("waiting", [False, True])
def test_an_old_page_finds_the_new_one(window, controller, kit, waiting):
    """A new run has another token: the page of the one before says so, and leads on once the new page is open."""
    first = kit.serve(controller)
    old = window(first.address + "#pair")
    press(old, "y")
    first.stop()
    if waiting:
        old.keyboard.press("n")
        old.wait_for_selector(".banner:not([hidden])")
    second = kit.serve(controller, int(re.search(r":(\d+)/", first.address)[1]))
    banner = old.locator(".banner")
    banner.get_by_text("restarted").wait_for(timeout=WAIT)
    assert "Go on at the address that it has printed" in banner.inner_text()
    assert ("Your last action was not accepted" in banner.inner_text()) == waiting
    new = old.context.new_page()
    new.goto(second.address)
    new.wait_for_selector(".choices")
    banner.get_by_role("link", name="Go on with the new page").click(timeout=WAIT)
    old.wait_for_selector(".choices")
    assert old.url == second.address + "#pair"
    press(old, "n")
    assert [given.choice for given in controller.session.answers] == ["same", "different"]
    second.stop()


def test_two_windows(window, running):
    one = window(running.address + "#pair")
    other = window(running.address + "#pair")
    asked = rows_asked(other)
    assert rows_asked(one) != asked
    press(one, "y")
    wait_for_answers(other, 1)
    assert rows_asked(other) == asked  # a question stays while somebody thinks about it
    press(other, "n")
    wait_for_answers(one, 2)
    numbers = [given.number for given in running.controller.session.answers]
    assert len(numbers) == len(set(numbers))
    assert rows_asked(one) != rows_asked(other)


def test_what_is_in_sight_of_many_groups(window, running):
    """The row below the cards, and colours as on the map; typing finds a group beyond the key 9."""
    for row in range(0, 36, 3):
        running.controller.session.move(row, f"group {row:02}")
    page = window(running.address + "#pick", height=420)
    press(page, "0")  # of the first group, which has no name
    box = page.get_by_role("button", name="None of these").bounding_box()
    assert box["y"] + box["height"] <= 420
    places = "cards => cards.map(card => card.querySelector('.label').textContent)"
    before = page.locator(".question .card").evaluate_all(places)
    assert page.locator(".question .card .swatch").count() == len(running.controller.session.groups) > 9
    press(page, "0")
    assert page.locator(".question .card").evaluate_all(places)[: len(before)] == before
    twelfth = sorted(group.id for group in running.controller.session.groups)[11]
    field = page.get_by_placeholder("or type a name")
    field.fill("12")
    assert page.locator(".question .card:visible").count() == 2  # number 12, and a name with 12 in it
    spoken_before = spoken(page)
    field.press("Enter")
    wait_for_another_question(page, spoken_before)
    assert running.controller.session.answers[-1].choice == twelfth


def test_groups_unfold(window, running):
    """Of many groups one example each is in sight, and all when asked to; of few groups several at once."""
    for row in range(24):
        running.controller.session.move(row, f"class {row % 6}")
    page = window(running.address + "#pick")
    visible = page.locator(".question .card .members > :visible")
    n_groups = page.locator(".question .card").count()
    assert visible.count() == n_groups
    page.keyboard.press("e")
    assert visible.count() > n_groups
    press(page, "1")  # and stays so from question to question
    assert visible.count() > n_groups
    page.get_by_role("button", name="One example of each group").click()
    assert visible.count() == n_groups


def test_dots_follow_the_scheme(window, running):
    page = window(running.address + "#pick", color_scheme="light")
    dots = "where => document.querySelector(`${where} .swatch circle`).getAttribute('fill')"
    page.wait_for_selector(".gallery .swatch")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(f"() => matchMedia('(prefers-color-scheme: {scheme})').matches")
        page.wait_for_function(f"() => ({dots})('.card') === ({dots})('.gallery')")
    assert page.evaluate(dots, ".card") != "hsl(212 72% 46%)"


def test_several_people(window, running):
    running.controller.session.move(0, 0, who="Ann")
    page = window(running.address + "#pair")
    assert not page.locator(".people li").count()
    running.controller.session.move(1, 0, who="Bea")
    press(page, "y")
    page.get_by_text("Bea: 1 answer, all in agreement with the rest").wait_for()


def test_the_estimate_is_a_sentence(window, running, kit):
    page = window(running.address + "#pair")
    press(page, "n")
    page.get_by_text("After 1 answer it is too early to tell how many pictures are in the right group.").wait_for()
    for _ in range(30):
        question = running.controller.session.question()
        same = kit.truth[question.first] == kit.truth[question.second]
        running.controller.session.answer(question, "same" if same else "different")
    page.reload()
    words = re.compile(r"After \d+ answers, about .* of 100 pictures should be in the right group \(between")
    page.locator(".estimate", has_text=words).wait_for()
    assert page.locator(".plot span").all_inner_texts()[:2] == ["100", "50"]


@pytest.mark.parametrize("kind", ["pair", "pick"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone(window, running, kind, scheme):
    running.controller.session.move(0, "none")  # a name without a space to break at
    page = window(f"{running.address}#{kind}", width=390, height=844, color_scheme=scheme)
    page.wait_for_selector(".gallery .item")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="hidden")


def test_by_keyboard_alone(window, running):
    """Tab reaches every control, and each has a name for a screen reader."""
    page = window(running.address + "#pair")
    press(page, "n")
    wait_for_answers(page, 1)
    page.wait_for_selector(".gallery .item")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.className + '|' + document.activeElement.tagName"))
    assert {"main|BUTTON", "item|BUTTON", "link|BUTTON", "|INPUT"} <= reached
    assert page.evaluate("[...document.querySelectorAll('img')].every(image => image.alt)")
    unnamed = "[...document.querySelectorAll('button')].filter(b => !b.textContent.trim() && !b.ariaLabel).length"
    assert page.evaluate(unnamed) == 0
    assert page.locator("[aria-live]").inner_text().startswith("Question 2.")


def test_downloads(window, running):
    page = window(running.address + "#pair")
    press(page, "n")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Labels (CSV)").click()
    assert waiting.value.suggested_filename == "labels.csv"
    assert len(waiting.value.path().read_text(encoding="utf-8").splitlines()) == 91


def test_blind(window, running):
    """Neither the galleries nor the map show the things that are asked about."""
    page = window(running.address + "#pair")
    press(page, "n")
    wait_for_answers(page, 1)
    asked = {f"item-{row}" for row in rows_asked(page)}
    shown = page.locator(".gallery .item").evaluate_all("items => items.map(item => item.dataset.keep)")
    assert asked.isdisjoint(shown)
    assert page.locator(".question .thing").evaluate_all("things => new Set(things.map(t => t.className)).size") == 1


def test_as_a_widget(window, running):
    """What anywidget calls, with messages that go through this page's own server."""
    page = window(running.address)
    page.evaluate(
        """async () => {
            const { default: widget } = await import("./page.js");
            const listeners = [];
            const model = {
                on: (_, listener) => listeners.push(listener),
                send: async ({ id, action, values }) => {
                    const headers = { "Content-Type": "application/json" };
                    const request = fetch(action, { method: "POST", headers, body: JSON.stringify(values) });
                    const response = await request.catch(() => null);
                    if (response === null) return;  // the server ended before the window did
                    const reply = await response.json();
                    listeners.forEach((listener) => listener(response.ok ? { id, reply } : { id, error: reply.error }));
                },
            };
            const cell = document.createElement("div");
            cell.id = "cell";
            cell.style.width = "680px";
            document.body.replaceChildren(cell);
            widget.render({ model, el: cell });
        }"""
    )
    page.locator("#cell .choices").wait_for()
    below = "getComputedStyle(document.querySelector('#cell main')).gridTemplateColumns.split(' ').length === 1"
    page.wait_for_function(below)  # the window is wide, the cell of the notebook is not
    page.locator("#cell input[value=pair]").check(force=True)
    page.get_by_role("button", name="Same").click()
    wait_for_answers(page, 1)
    before = spoken(page)
    page.locator("#cell > div").focus()
    page.keyboard.press("n")
    wait_for_another_question(page, before)
    assert [given.choice for given in running.controller.session.answers] == ["same", "different"]
