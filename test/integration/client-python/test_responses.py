"""How the client treats responses, without a service."""

import asyncio
import json
import unittest
from typing import Any, Callable
from unittest.mock import patch

import httpx

from flowrun import (
    AsyncFlowrun,
    BudgetReached,
    ConnectionFailed,
    Flowrun,
    FlowrunError,
    MonthlyQuota,
    NotFound,
    RateLimited,
)
from flowrun.response_error import response_error
from flowrun.retry_delay import retry_delay

URL = "http://flowrun.test/base"
FLOW_ID = "7d9f6ad1-3f5e-4a39-8e5f-5b1f7f3e2a10"
Answer = Callable[[httpx.Request], httpx.Response]


def rejection(status: int, code: str, **more: Any) -> httpx.Response:
    headers = {"x-request-id": "r1", "retry-after": "7"}
    return httpx.Response(
        status, json={"error": {"code": code, "message": "No.", **more}}, headers=headers
    )


class Service:
    """Answers with the given responses in turn, and keeps the requests."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self) -> Flowrun:
        return Flowrun(URL, "frs_key", transport=httpx.MockTransport(self))


class Responses(unittest.TestCase):
    def setUp(self) -> None:
        self.waits: list[float] = []
        sleep = patch("flowrun._sync.http.time.sleep", self.waits.append)
        sleep.start()
        self.addCleanup(sleep.stop)

    def test_an_error_has_the_class_of_its_code_and_all_facts(self) -> None:
        body = rejection(429, "BUDGET_REACHED", limit=10, current=11, budget="flow")
        error = response_error(body.status_code, body.headers, body.content)
        self.assertIs(type(error), BudgetReached)
        facts = (error.code, error.status, error.request_id, error.retry_after_seconds)
        self.assertEqual(facts, ("BUDGET_REACHED", 429, "r1", 7))
        self.assertEqual((error.limit, error.current, error.budget), (10, 11, "flow"))

    def test_a_response_of_another_server_is_a_plain_error(self) -> None:
        for body in (b"<html>", b"[]", b'{"error":"no"}', b"\xff"):
            error = response_error(502, {"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, body)
            self.assertIs(type(error), FlowrunError)
            self.assertEqual((error.code, error.retry_after_seconds), ("HTTP_502", 0))

    def test_a_success_of_another_server_is_a_failed_connection(self) -> None:
        with self.assertRaises(ConnectionFailed):
            Service(httpx.Response(200, text="<html>")).client().get_run("a")

    def test_a_request_waits_for_the_time_in_retry_after_and_then_succeeds(self) -> None:
        service = Service(rejection(429, "RATE_LIMITED"), httpx.Response(200, json={"data": []}))
        self.assertEqual(list(service.client().flows()), [])
        self.assertEqual(self.waits, [7])

    def test_a_request_fails_after_the_fourth_attempt(self) -> None:
        service = Service(*[httpx.Response(500)] * 4)
        with self.assertRaises(FlowrunError):
            list(service.client().flows())
        self.assertEqual(self.waits, [1, 2, 4])

    def test_a_reached_quota_is_not_repeated(self) -> None:
        with self.assertRaises(MonthlyQuota):
            Service(rejection(429, "MONTHLY_QUOTA")).client().run(FLOW_ID)

    def test_a_run_is_repeated_with_the_same_idempotency_key(self) -> None:
        service = Service(httpx.ReadError("cut"), rejection(400, "VALIDATION_ERROR"))
        with self.assertRaises(FlowrunError):
            service.client().run(FLOW_ID, prompt="Go")
        first, second = (json.loads(request.content) for request in service.requests)
        self.assertEqual(first, second)
        self.assertEqual(len(first["idempotencyKey"]), 36)

    def test_a_run_with_mcp_servers_is_repeated_only_if_it_was_not_sent(self) -> None:
        service = Service(httpx.ConnectError("refused"), httpx.ReadError("cut"))
        with self.assertRaises(ConnectionFailed):
            service.client().run(FLOW_ID, mcp_servers={"a": {"type": "http", "url": "https://a"}})
        self.assertEqual(len(service.requests), 2)
        self.assertNotIn("idempotencyKey", json.loads(service.requests[0].content))

    def test_a_rejection_has_no_effect_so_any_request_is_repeated_after_it(self) -> None:
        error = RateLimited("No.", code="RATE_LIMITED", status=429)
        self.assertEqual(retry_delay(1, error, False), 1)
        unavailable = FlowrunError("No.", code="UPSTREAM_UNAVAILABLE", status=503)
        self.assertIsNone(retry_delay(1, unavailable, False))
        self.assertEqual(retry_delay(1, unavailable, True), 0)

    def test_a_deletion_whose_answer_is_lost_succeeds(self) -> None:
        run = httpx.Response(200, json={"data": {**record, "prompt": "", "interactions": []}})
        service = Service(run, httpx.ReadError("cut"), rejection(404, "NOT_FOUND"))
        service.client().get_run("a").delete()
        service.answers = [run, rejection(404, "NOT_FOUND")]
        with self.assertRaises(NotFound):
            service.client().get_run("a").delete()

    def test_an_operator_calls_the_routes_of_a_project(self) -> None:
        service = Service(httpx.Response(200, json={"data": []}))
        transport = httpx.MockTransport(service)
        client = Flowrun(URL + "/api/v1/", "fro_a", project="a/b", transport=transport)
        list(client.flows())
        self.assertEqual(str(service.requests[0].url), f"{URL}/api/projects/a%2Fb/flows")

    def test_the_path_of_a_file_leads_to_no_other_route(self) -> None:
        run = httpx.Response(200, json={"data": {**record, "prompt": "", "interactions": []}})
        service = Service(run)
        client = service.client()
        files = client.get_run("a").files
        for path in ["../../b", "a/./b", ".."]:
            with self.assertRaises(ValueError):
                client.flow_files(FLOW_ID).delete(path)
            with self.assertRaises(ValueError):
                files.read(path)
        self.assertEqual(len(service.requests), 1)

    def test_leaving_the_loop_closes_the_connection(self) -> None:
        stream = Stream()
        run = httpx.Response(200, json={"data": {**record, "prompt": "", "interactions": []}})
        service = Service(run, httpx.Response(200, stream=stream))
        for event in service.client().get_run("a").events():
            self.assertEqual(event.type, "chat_output")
            break
        self.assertTrue(stream.is_closed)

    def test_leaving_the_asynchronous_loop_closes_the_connection(self) -> None:
        stream = Stream()
        run = httpx.Response(200, json={"data": {**record, "prompt": "", "interactions": []}})
        service = Service(run, httpx.Response(200, stream=stream))

        async def leave() -> None:
            client = AsyncFlowrun(URL, "frs_key", transport=httpx.MockTransport(service))
            async for _ in (await client.get_run("a")).events():
                break

        asyncio.run(leave())
        self.assertTrue(stream.is_closed)


class Stream(httpx.SyncByteStream, httpx.AsyncByteStream):
    is_closed = False
    frame = b'event: chat_output\nid: 1\ndata: {"text":"one"}\n\n'

    def __iter__(self) -> Any:
        while True:
            yield self.frame

    async def __aiter__(self) -> Any:
        while True:
            yield self.frame

    def close(self) -> None:
        self.is_closed = True

    async def aclose(self) -> None:
        self.is_closed = True


record: dict[str, Any] = {
    "runId": "a",
    "flowId": FLOW_ID,
    "projectId": "p",
    "name": None,
    "labels": {},
    "status": "a later status",
    "agentStatus": None,
    "triggerType": "api",
    "createdAt": "2026-01-01T00:00:00.000Z",
    "startedAt": None,
    "finishedAt": None,
    "sessionId": None,
    "streamUrl": "",
    "exitCode": None,
    "result": None,
    "structuredOutput": None,
    "usage": {
        "inputTokens": 0,
        "outputTokens": 0,
        "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0,
    },
    "costUsd": None,
    "numTurns": 0,
    "createdBy": {"keyName": "ci", "createdBy": "ana"},
    "webhook": {"state": "none", "attempts": 0, "lastStatus": None},
    "mcpServerNames": [],
    "retryOf": None,
    "flowVersion": 1,
    "parentRunId": None,
    "rootRunId": None,
    "depth": 0,
    "files": None,
    "aLaterField": 1,
}

if __name__ == "__main__":
    unittest.main()
