"""A served Cuebase is watched from outside: metrics, logs and traces of real processes."""

import json
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests import template
from tests.kbsite.cli.test_serve import Serving, until
from tests.model_standin import ModelStandIn
from tests.otlp_receiver import OtlpReceiver, attributes

TOKEN = "reads-metrics"
DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
QUESTION = "What does BM25 rank by?"
NAME = re.compile(r"\bcuebase_[a-z_]+")


@dataclass
class Watched:
    """A server with a worker, its log, and what it sent to the receiver."""

    serving: Serving
    receiver: OtlpReceiver
    api: requests.Session

    def metrics(self) -> dict[str, dict[tuple[str, ...], float]]:
        """Return all samples: name, values of the labels in the order of their names, value."""
        response = self.scrape(authorization=f"Bearer {TOKEN}")
        assert response.status_code == 200
        samples: dict[str, dict[tuple[str, ...], float]] = {}
        for family in text_string_to_metric_families(response.text):
            for sample in family.samples:
                labels = tuple(value for _, value in sorted(sample.labels.items()))
                samples.setdefault(sample.name, {})[labels] = sample.value
        return samples

    def scrape(self, **headers: str) -> requests.Response:
        return requests.get(f"{self.serving.url}/metrics", headers=headers, timeout=30)

    def lines(self) -> list[dict[str, Any]]:
        """Return the lines of the log that are JSON; the greeting is for people."""
        return [json.loads(line) for line in self.serving.output().splitlines() if line[:1] == "{"]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    home = tmp_path_factory.mktemp("watched") / "home"
    with OtlpReceiver() as receiver, ModelStandIn() as models:
        settings = {
            **models.settings(),
            "METRICS_TOKEN": TOKEN,
            "LOG_FORMAT": "json",
            "LLM_PROVIDER": "openai",
            "LLM_PRICES": "1,0.1,10",
            "DISABLE_HYDE": "true",
            "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
            "OTEL_BSP_SCHEDULE_DELAY": "200",
        }
        template.copy_to(home)
        serving = Serving(home, "--sample", **settings)
        try:
            token = serving.json("token", "create", "watch", "--write")["token"]
            api = requests.Session()
            api.headers["Authorization"] = f"Bearer {token}"
            watched = Watched(serving, receiver, api)
            sources = f"{serving.url}/api/v1/sources"
            until(lambda: is_indexed(api.get(sources, timeout=30).json()), seconds=120)
            ask(watched)
            yield watched
        finally:
            serving.end(signal.SIGTERM)


def is_indexed(page: dict[str, Any]) -> bool:
    """Tell whether the sample library is there, found by words and meaning."""
    return bool(0 < page["total"] == page["counts"]["ready"])


def ask(watched: Watched) -> None:
    """Ask a question, so that each kind of work was done once."""
    url = f"{watched.serving.url}/api/v1/ask"
    answer = watched.api.post(url, json={"question": QUESTION}, timeout=120)
    assert answer.status_code == 200, answer.text
    assert answer.text


def test_requests_stages_and_model_calls_are_counted(watched: Watched) -> None:
    metrics = watched.metrics()
    assert metrics["cuebase_request_seconds_count"]["POST", "/api/v1/ask", "200"] >= 1
    stages = metrics["cuebase_stage_seconds_count"]
    for stage in (
        ("ok", "lexical", "search"),
        ("ok", "route", "answer"),
        ("ok", "write", "answer"),
    ):
        assert stages[stage] >= 1
    assert any(work == "model" for _, _, work in stages)
    # The worker may count a call between two lines of what is read.
    until(lambda: has_prices_of_its_tokens(watched), seconds=30)


def has_prices_of_its_tokens(watched: Watched) -> bool:
    metrics = watched.metrics()
    (cost,) = metrics["cuebase_model_cost_total"].values()
    tokens = {kind: count for (kind, _), count in metrics["cuebase_model_tokens_total"].items()}
    expected = (tokens["input"] + tokens["cached"] / 10 + tokens["output"] * 10) / 1_000_000
    return tokens["output"] > 0 and cost == pytest.approx(expected)


def test_the_worker_counts_in_the_same_place_and_goes_on_after_it_was_killed(
    watched: Watched,
) -> None:
    def sweeps() -> float:
        tasks = watched.metrics()["cuebase_stage_seconds_count"]
        return sum(count for labels, count in tasks.items() if labels[1:] == ("sweep", "task"))

    until(lambda: sweeps() >= 2)
    before, pid = sweeps(), watched.serving.worker_pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: watched.serving.worker_pid() not in (None, pid))
    assert sweeps() >= before, "no count falls, or Prometheus would take it for a new one"
    until(lambda: sweeps() > before)


def test_queue_gate_pool_disk_and_checks_are_measured_when_asked(watched: Watched) -> None:
    metrics = watched.metrics()
    lanes = {"youtube", "files", "words", "vectors", "lectures", "answers"}
    assert {lane for (lane,) in metrics["cuebase_queue_depth"]} == lanes
    assert {lane for (lane,) in metrics["cuebase_queue_oldest_seconds"]} == lanes
    assert metrics["cuebase_youtube_gate"] == {("open",): 1, ("probing",): 0, ("closed",): 0}
    assert metrics["cuebase_pool_connections"]["pool_size",] >= 1
    assert metrics["cuebase_database_connections"]["most",] > 10
    assert 0 < metrics["cuebase_disk_bytes"]["free",] < metrics["cuebase_disk_bytes"]["total",]
    assert metrics["cuebase_check"]["PostgreSQL",] == 1
    assert metrics["cuebase_leases"] == {("window",): 0, ("answer",): 0}


def test_metrics_are_for_the_bearer_of_the_token_and_for_superusers(watched: Watched) -> None:
    assert watched.scrape().status_code == 404
    assert watched.scrape(authorization="Bearer wrong").status_code == 404
    forwarded = {"x-forwarded-for": "127.0.0.1", "forwarded": "for=127.0.0.1"}
    assert watched.scrape(**forwarded).status_code == 404
    superuser = str(watched.api.headers["Authorization"])
    assert watched.scrape(authorization=superuser).status_code == 200


def test_metrics_name_routes_and_never_what_was_asked_for(watched: Watched) -> None:
    secret = "a-secret-that-nobody-may-log"
    requests.get(f"{watched.serving.url}/sign-in/{secret}/", timeout=30)
    requests.get(f"{watched.serving.url}/{secret}?q={secret}", timeout=30)
    requests.request("BREW", f"{watched.serving.url}/healthz", timeout=30)
    text = watched.scrape(authorization=f"Bearer {TOKEN}").text
    assert secret not in text
    assert "BREW" not in text
    assert 'route="/sign-in/<str:secret>/"' in text
    assert 'route="unmatched"' in text


def test_each_line_of_the_log_is_json_with_the_id_of_its_request(watched: Watched) -> None:
    given = requests.get(
        f"{watched.serving.url}/healthz", headers={"X-Request-ID": "from-proxy.1"}, timeout=30
    )
    assert given.headers["X-Request-ID"] == "from-proxy.1"
    until(lambda: any(line["request_id"] == "from-proxy.1" for line in watched.lines()))
    line = next(line for line in watched.lines() if line["request_id"] == "from-proxy.1")
    assert (line["level"], line["method"], line["route"], line["status"]) == (
        *("INFO", "GET", "/healthz"),
        200,
    )
    assert line["timestamp"]


@pytest.mark.parametrize("bad", ["", "x" * 65, "two words", "café", 'quote"'])
def test_an_id_that_could_disturb_the_log_is_replaced(watched: Watched, bad: str) -> None:
    headers = {"X-Request-ID": bad.encode()}
    response = requests.get(f"{watched.serving.url}/healthz", headers=headers, timeout=30)
    assert re.fullmatch(r"[0-9a-f]{32}", response.headers["X-Request-ID"])


def test_a_line_of_a_worker_names_its_task_and_the_row_that_it_works_on(watched: Watched) -> None:
    url = f"{watched.serving.url}/api/v1/sources/files"
    files = {"files": ("talk.vtt", b"WEBVTT\n\n00:01.000 --> 00:02.000\nhello\n")}
    job = watched.api.post(url, files=files, timeout=30).json()["job"]
    until(
        lambda: any(
            (line["task"], line["job_id"]) == ("run_job", job["id"]) for line in watched.lines()
        )
    )


def test_a_trace_follows_a_request_through_its_stages_to_the_database(watched: Watched) -> None:
    parent = "0af7651916cd43dd8448eb211c80319c"
    headers = {"traceparent": f"00-{parent}-b7ad6b7169203331-01"}
    url = f"{watched.serving.url}/api/v1/search?q=secret-words"
    assert watched.api.get(url, headers=headers, timeout=30).status_code == 200

    def trace() -> dict[str, Any]:
        spans = [span for _, span in list(watched.receiver.spans)]
        return {span.name: span for span in spans if span.trace_id.hex() == parent}

    until(lambda: {"GET /api/v1/search", "search lexical"} <= trace().keys())
    request = trace()["GET /api/v1/search"]
    assert attributes(request)["http.response.status_code"] == "200"
    assert trace()["search lexical"].parent_span_id == request.span_id
    assert trace()["SELECT"].parent_span_id == request.span_id
    assert "secret-words" not in "".join(map(str, trace().values())), "no question is recorded"


def test_model_calls_and_tasks_of_the_worker_are_traced(watched: Watched) -> None:
    calls = [span for _, span in watched.receiver.spans if span.name.startswith("model ")]
    assert any("cuebase.tokens.output" in attributes(span) for span in calls)
    until(lambda: watched.receiver.named("run/transcripts.tasks.sweep", service="cuebase-worker"))


def test_dashboard_and_alerts_ask_for_metrics_that_exist(watched: Watched) -> None:
    dashboard = json.loads((DEPLOY / "grafana" / "cuebase.json").read_text())
    targets = chain.from_iterable(panel.get("targets", []) for panel in dashboard["panels"])
    rules = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())
    expressions = [target["expr"] for target in targets]
    expressions += [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    names = {name for expression in expressions for name in NAME.findall(expression)}
    assert len(expressions) > 20
    assert names - watched.metrics().keys() == set()
