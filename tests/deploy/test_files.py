"""The files of deploy/ are valid, and name settings and commands that exist."""

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from compose_spec import PyCompose
from django.conf import settings
from gotpl.exts.helm import HelmTemplateEngine
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kbsite.cli.app import COMMANDS
from tests.programs import require_program, run_program
from tests.sources import ROOT

DEPLOY = ROOT / "deploy"
COMPOSE, CHART, UNITS = (DEPLOY / name for name in ("compose", "helm", "systemd"))
KUBERNETES = "1.34"
NOT_OURS = {"PYTHONUNBUFFERED"}
MAX_EXPOSED = "20"  # tenths, of `systemd-analyze security`


def are_settings(names: Iterable[str]) -> bool:
    return set(names) - NOT_OURS <= settings.OPTIONS.keys()


# Compose


def compose() -> dict[str, Any]:
    """Return compose.yaml with its anchors merged and its variables set, as Compose reads it."""
    text = (COMPOSE / "compose.yaml").read_text()
    text = re.sub(r"\$\{\w+:-(\w+)\}", r"\1", text)
    read: dict[str, Any] = yaml.safe_load(re.sub(r"\$\{(\w+):\?\}", r"some.\1", text))
    return read


@pytest.fixture
def services() -> dict[str, Any]:
    """The services of compose.yaml."""
    services: dict[str, Any] = compose()["services"]
    return services


def test_compose_file_follows_the_specification() -> None:
    file = compose()
    PyCompose.from_yaml(yaml.safe_dump(file)).validate()
    file["services"]["web"]["deploy"]["replicas"] = "two"
    with pytest.raises(ValueError, match="replicas"):
        PyCompose.from_yaml(yaml.safe_dump(file))


def test_a_team_gets_two_web_servers_and_two_workers(services: dict[str, Any]) -> None:
    for name in ("web", "worker"):
        assert services[name]["deploy"]["replicas"] == 2
        assert services[name]["command"][1] in COMMANDS
        assert are_settings(services[name]["environment"])


def test_only_caddy_can_be_reached_and_is_believed(services: dict[str, Any]) -> None:
    assert [name for name in services if "ports" in services[name]] == ["caddy"]
    address = services["caddy"]["networks"]["default"]["ipv4_address"]
    assert services["web"]["environment"]["TRUSTED_PROXIES"] == address


def test_caddyfile_is_valid(tmp_path: Path) -> None:
    caddy = require_program("caddy")
    check = [caddy, "validate", "--adapter", "caddyfile", "--config", "Caddyfile"]
    environment = {**os.environ, "SITE": "kb.example.org", "HOME": str(tmp_path)}
    subprocess.run(check, cwd=COMPOSE, env=environment, check=True, capture_output=True)


# Kubernetes


def rendered(**values: Any) -> list[dict[str, Any]]:
    """Return what the chart makes, validated against the schemas of Kubernetes."""
    files = {path.name: path.read_text() for path in (CHART / "templates").iterdir()}
    defaults = yaml.safe_load((CHART / "values.yaml").read_text())
    data = {"Values": defaults | values, "Release": {"Name": "kb"}}
    pages = [name for name in files if not name.startswith("_")]
    made = HelmTemplateEngine.from_sources(files, strict=True).render(dict.fromkeys(pages, data))
    objects = [item for text in made.values() for item in yaml.safe_load_all(text) if item]
    for item in objects:
        kubernetes_validate.validate(item, KUBERNETES, strict=True)
    return objects


def test_chart_makes_what_kubernetes_accepts() -> None:
    kinds = [item["kind"] for item in rendered()]
    assert sorted(kinds) == ["ConfigMap", "Deployment", "Deployment", "Ingress", "Service"]
    with pytest.raises(kubernetes_validate.ValidationError):
        rendered(web={"replicas": "two", "resources": {}})


def test_values_of_the_chart_arrive() -> None:
    ingress = {"className": "nginx", "annotations": {"a/b": "c"}, "tlsSecret": "tls"}
    made = rendered(
        host="kb.test", image="registry.test/kb:2", ingress=ingress, settings={"PORT": 1}
    )
    settings_made = next(item["data"] for item in made if item["kind"] == "ConfigMap")
    assert settings_made["PUBLIC_URL"] == "https://kb.test"
    assert settings_made["PORT"] == "1"
    assert are_settings(settings_made)
    for item in made:
        match item["kind"]:
            case "Ingress":
                assert item["spec"]["ingressClassName"] == "nginx"
                assert item["metadata"]["annotations"] == {"a/b": "c"}
            case "Deployment":
                (container,) = item["spec"]["template"]["spec"]["containers"]
                assert container["image"] == "registry.test/kb:2"
                assert container["command"][1] in COMMANDS


def test_the_chart_has_the_version_of_the_package() -> None:
    version = re.search('^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert version
    assert {chart["appVersion"], values["image"].partition(":")[2]} == {version[1]}


# systemd


@pytest.mark.parametrize("unit", ["cuebase-server.service", "cuebase-worker@1.service"])
def test_units_are_valid_and_shut_in(unit: str, tmp_path: Path) -> None:
    analyze = require_program("systemd-analyze")
    folder = shutil.copytree(UNITS, tmp_path / "units")
    program = tmp_path / "kb"
    program.touch(mode=0o755)
    for path in folder.glob("*.service"):
        path.write_text(path.read_text().replace("/opt/cuebase/bin/kb", str(program)))
    environment = {**os.environ, "SYSTEMD_UNIT_PATH": f"{folder}:"}
    shut_in = ["security", "--offline=true", f"--threshold={MAX_EXPOSED}"]
    for check in (["verify", "--man=no"], shut_in):
        ran = run_program(analyze, *check, f"./{unit}", environment=environment, cwd=folder)
        assert not ran.stderr


def test_units_run_commands_and_settings_that_exist() -> None:
    text = "".join(path.read_text() for path in UNITS.rglob("*.*") if path.is_file())
    assert set(re.findall(r"bin/kb (\w+)", text)) <= set(COMMANDS)
    (line,) = re.findall("^Environment=(.*)", text, re.MULTILINE)
    assert are_settings(pair.partition("=")[0] for pair in line.split())


@pytest.mark.parametrize("lock", ["requirements-core.lock", "requirements.lock"])
def test_every_dependency_is_locked(lock: str) -> None:
    """An environment has the packages of its lock alone, so that one that is missing is so at run
    time.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {canonicalize_name(Requirement(line).name) for line in project["dependencies"]}
    needed.remove("cuebase-minilm")  # built here, of weights that are locked
    lines = (ROOT / lock).read_text().splitlines()
    assert needed - {canonicalize_name(line.partition("==")[0]) for line in lines} == set()
