"""Where meshes are looked for, and where they are not."""

from __future__ import annotations

import os

import pytest

from spatialops.errors import AssetError
from spatialops.io.packages import Resolver


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """Two packages side by side, and a secret outside."""
    for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(name, raising=False)
    for package in ("arm", "hand"):
        folder = tmp_path / "work" / "src" / package
        (folder / "urdf").mkdir(parents=True)
        (folder / "meshes").mkdir()
        (folder / "package.xml").write_text("<package/>")
        (folder / "meshes" / "part.stl").write_text("solid")
    (tmp_path / "work" / "secret.stl").write_text("secret")
    (tmp_path / "work" / "src" / "notes.stl").write_text("secret")
    return tmp_path / "work"


def find(workspace, uri, packages=None):
    return Resolver(workspace / "src" / "arm" / "urdf" / "arm.urdf", packages).resolve(
        uri, "arm.urdf:1"
    )


@pytest.mark.parametrize(
    ("uri", "package"),
    [
        ("package://arm/meshes/part.stl", "arm"),
        ("package://hand/meshes/part.stl", "hand"),
        ("model://hand/meshes/part.stl", "hand"),
        ("../meshes/part.stl", "arm"),
    ],
)
def test_own_package_and_its_neighbours(workspace, uri, package):
    assert find(workspace, uri) == workspace / "src" / package / "meshes" / "part.stl"


def test_order_is_map_then_environment_then_ancestors(workspace, tmp_path, monkeypatch):
    def package(*parts):
        folder = tmp_path.joinpath(*parts)
        folder.mkdir(parents=True)
        (folder / "part.stl").write_text("solid")
        return folder

    uri, above = "package://hand/part.stl", workspace / "src" / "hand"
    (above / "part.stl").write_text("solid")
    assert find(workspace, uri).parent == above
    ament = package("ament", "share", "hand")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ament"))
    assert find(workspace, uri).parent == ament
    ros = package("ros", "hand")
    monkeypatch.setenv("ROS_PACKAGE_PATH", os.pathsep.join(("", str(tmp_path / "ros"))))
    assert find(workspace, uri).parent == ros
    given = package("given")
    assert find(workspace, uri, {"hand": given}).parent == given


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("../../../secret.stl", "lies outside"),
        ("../../notes.stl", "lies outside"),
        ("../../../../../../../../etc/passwd", "lies outside"),
        ("/etc/passwd", "lies outside"),
        ("file:///etc/passwd", "lies outside"),
        ("package://arm/../notes.stl", "lies outside"),
        ("package://arm/../../secret.stl", "lies outside"),
        ("package://../secret.stl", "expected package://PACKAGE/PATH"),
        ("package://arm", "expected package://PACKAGE/PATH"),
        ("package://etc/passwd", "package 'etc' was not found"),
        ("package://arm/meshes/none.stl", "there is no such file in"),
        ("../meshes/none.stl", "there is no file"),
        ("../meshes", "there is no file"),
        ("http://localhost/a.stl", "only package://"),
        ("a\0b", "is not the name of a file"),
        ("x" * 5000, "is not the name of a file"),
        ("x" * 300, "cannot be looked up"),
    ],
)
def test_what_is_refused(workspace, uri, message):
    with pytest.raises(AssetError, match=r"^arm.urdf:1: ") as caught:
        find(workspace, uri)
    assert message in str(caught.value)


def test_links_do_not_lead_out(workspace):
    (workspace / "src" / "arm" / "meshes" / "sly.stl").symlink_to(workspace / "secret.stl")
    with pytest.raises(AssetError, match="lies outside"):
        find(workspace, "package://arm/meshes/sly.stl")


def test_a_file_without_a_package_reaches_its_folders_parent_only(tmp_path):
    (tmp_path / "a" / "b" / "urdf").mkdir(parents=True)
    resolver = Resolver(tmp_path / "a" / "b" / "urdf" / "robot.urdf")
    for folder in (tmp_path, tmp_path / "a", tmp_path / "a" / "b"):
        (folder / "x.stl").write_text("solid")
    assert resolver.resolve("../x.stl", "robot.urdf:1").parent == tmp_path / "a" / "b"
    with pytest.raises(AssetError, match="lies outside"):
        resolver.resolve("../../x.stl", "robot.urdf:1")


def test_the_map_is_checked(workspace):
    with pytest.raises(AssetError, match="there is no folder"):
        find(workspace, "package://arm/meshes/part.stl", {"arm": workspace / "nowhere"})
    with pytest.raises(AssetError, match="expected folders by names"):
        find(workspace, "package://arm/meshes/part.stl", ["arm"])
