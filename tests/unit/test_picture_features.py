"""Pictures as points: colours, edges, EXIF rotation, damaged files, and kinds of files."""

import numpy as np
import pytest

from tightcut.features import pictures
from tightcut.features.pictures import picture_files

Image = pytest.importorskip("PIL.Image")


def stripes(angle, shift=0.0, size=64):
    down, right = np.mgrid[:size, :size]
    wave = np.sin((right * np.cos(angle) + down * np.sin(angle)) / 3 + shift)
    return np.uint8(127 + 120 * wave)


@pytest.fixture
def textures(tmp_path):
    """Ten pictures each of stripes that stand, stripes that lie, and stripes that stand in red."""
    rng = np.random.default_rng(0)
    (tmp_path / "lying").mkdir()
    for number in range(10):
        shift = rng.uniform(0, 6)
        Image.fromarray(stripes(0, shift)).save(tmp_path / f"standing{number}.png")
        Image.fromarray(stripes(np.pi / 2, shift)).save(tmp_path / "lying" / f"{number}.jpg")
        red = np.stack([stripes(0, shift), *np.zeros((2, 64, 64), np.uint8)], axis=-1)
        Image.fromarray(red).save(tmp_path / f"red{number}.webp")
    return tmp_path


def kinds(found):
    names = [
        path.parent.name if path.parent.name == "lying" else path.stem.rstrip("0123456789") for path in found.paths
    ]
    return np.array(names)


def test_edges_and_colours_tell_pictures_apart(textures):
    found = pictures(textures)
    kind = kinds(found)
    assert found.thumbnails.shape == (30, 48, 48, 3)
    distance = np.linalg.norm(found.points[:, None] - found.points, axis=2)
    np.fill_diagonal(distance, np.inf)
    assert (kind[distance.argmin(axis=1)] == kind).all()


def test_the_same_points_every_time_whatever_the_order_of_reading(textures):
    first, second = pictures(textures, n_jobs=1), pictures(textures, n_jobs=4)
    assert first.paths == second.paths == picture_files(textures)
    assert np.array_equal(first.points, second.points)
    listed = pictures([str(path) for path in first.paths])
    assert np.array_equal(listed.points, first.points)


def test_pictures_are_turned_as_their_exif_data_say(tmp_path):
    scene = np.zeros((40, 60, 3), np.uint8)
    scene[:20], scene[:, :10] = (200, 30, 30), (20, 20, 220)
    upright = Image.fromarray(scene)
    upright.save(tmp_path / "upright.png")
    turned, exif = upright.transpose(Image.Transpose.ROTATE_90), Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees clockwise
    turned.save(tmp_path / "turned.png", exif=exif)
    found = pictures(tmp_path)
    assert np.array_equal(found.thumbnails[0], found.thumbnails[1])


def test_damaged_files_are_left_out_and_named(textures):
    good = (textures / "red0.webp").read_bytes()
    (textures / "half.webp").write_bytes(good[: len(good) // 2])
    (textures / "text.png").write_text("no picture")
    (textures / "empty.tif").write_bytes(b"")
    (textures / ".hidden.png").write_text("not looked at")
    (textures / "notes.txt").write_text("not looked at")
    found = pictures(textures)
    assert sorted(path.name for path in found.left_out) == ["empty.tif", "half.webp", "text.png"]
    assert found.left_out[textures / "text.png"] == "it is damaged, or no picture"
    assert len(found.points) == 30
    missing = pictures([textures / "red0.webp", textures / "gone.png", textures / "red1.webp"])
    assert missing.left_out == {textures / "gone.png": "it does not exist"}


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "CMYK", "I;16", "F"])
def test_every_kind_of_pixel(tmp_path, mode):
    grey = stripes(0)
    for number in range(3):
        part = np.roll(grey, number, axis=1)
        if mode == "I;16":
            picture = Image.fromarray(part.astype(np.uint16) * 200)
        elif mode == "F":
            picture = Image.fromarray(part.astype(np.float32) / 1000)
        else:
            picture = Image.fromarray(part).convert(mode)
        picture.save(tmp_path / f"{number}.tif")
    found = pictures(tmp_path)
    assert not found.left_out
    assert np.ptp(found.thumbnails.astype(int)) > 150
    assert found.shown().read(1).content.startswith(b"\x89PNG")  # no browser shows TIFF


def test_transparent_parts_are_white(tmp_path):
    clear = np.zeros((50, 50, 4), np.uint8)
    clear[:25, :, 3] = 255
    Image.fromarray(clear).save(tmp_path / "clear.png")
    Image.new("RGB", (50, 50), "red").save(tmp_path / "red.png")
    assert pictures(tmp_path).thumbnails[0, [0, -1], 0].tolist() == [[0, 0, 0], [255, 255, 255]]


def test_pictures_that_are_all_the_same(tmp_path):
    for number in range(3):
        Image.new("L", (10, 20), 99).save(tmp_path / f"{number}.png")
    assert np.array_equal(np.ptp(pictures(tmp_path).points, axis=0), [0.0])


def test_nothing_to_take_features_of(tmp_path):
    with pytest.raises(ValueError, match="There are no pictures to take features of: there are none"):
        pictures(tmp_path)
    (tmp_path / "bad.png").write_text("bad")
    with pytest.raises(ValueError, match=r"none can be read; .*bad\.png: it is damaged"):
        pictures(tmp_path)


def test_a_model_sees_whole_pictures(textures):
    seen = []

    def means(images):
        seen.extend(image.size for image in images)
        return np.array([np.asarray(image).mean(axis=(0, 1)) for image in images])

    found = pictures(textures, means)
    assert set(seen) == {(64, 64)}
    np.testing.assert_allclose(np.linalg.norm(found.points, axis=1), 1, atol=1e-5)
