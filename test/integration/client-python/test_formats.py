"""What the client reads: server-sent events, signed webhooks and archives."""

import base64
import hashlib
import hmac
import io
import json
import os
import random
import tarfile
import tempfile
import unittest
from pathlib import Path

from flowrun import FileContent, UnknownEvent, WebhookRejected, verify_webhook
from flowrun.events import to_event
from flowrun.extract import extract, files_beside
from flowrun.sse import Message, SseParser

VECTOR = json.loads(os.environ["STANDARD_VECTOR"])


class ServerSentEvents(unittest.TestCase):
    text = (
        ": ping\n\nretry: 250\r\n\r\nevent: output\nid: 7\ndata: Grüße 世界\ndata:two\n\n"
        'id: 8\r\ndata:  {"a":"\u2028"}\r\n\r\ndata: cut'
    )
    messages = [
        Message("output", "7", "Grüße 世界\ntwo"),
        Message("message", "8", ' {"a":"\u2028"}'),
    ]

    def test_are_the_same_in_parts_of_any_size(self) -> None:
        data = self.text.encode()
        for seed in range(300):
            parser, chance, at, found = SseParser(), random.Random(seed), 0, []
            while at < len(data):
                size = chance.randint(1, 9)
                found += parser.feed(data[at : at + size])
                at += size
            self.assertEqual(found, self.messages)
            self.assertEqual(parser.retry_seconds, 0.25)

    def test_of_an_unknown_kind_or_another_form_are_unknown(self) -> None:
        self.assertEqual(to_event("chat_output", 1, {"text": "a"}).type, "chat_output")
        self.assertEqual(to_event("later", 2, [1]), UnknownEvent("unknown", 2, [1], "later"))
        self.assertEqual(to_event("chat_output", 3, {"text": 1}).type, "unknown")


class Webhooks(unittest.TestCase):
    body = json.dumps(
        {"projectId": "p", "endpointId": "e", "sentAt": "2026-01-01T00:00:00.000Z"}
    ).encode()

    def signed(
        self, secret: str = "secret", *, event: str = "endpoint.test", body: bytes = body
    ) -> dict[str, str]:
        time = 1000
        digest = hmac.new(secret.encode(), f"{time}.".encode() + body, hashlib.sha256)
        return {
            "X-Service-Event": event,
            "X-Service-Delivery-Id": "d1",
            "X-Service-Signature": f"t={time},v1={digest.hexdigest()}",
        }

    def test_of_the_service_are_accepted_with_either_secret(self) -> None:
        for secret in ("secret", ["another", "secret"]):
            event = verify_webhook(self.signed(), self.body, secret, now=1300)
            self.assertEqual((event.type, event.delivery_id), ("endpoint.test", "d1"))

    def test_that_are_forged_or_old_are_rejected(self) -> None:
        body, headers = self.body, self.signed()
        signature = headers["X-Service-Signature"]
        other = {**headers, "X-Service-Event": "run.finished"}
        forged = [
            ({}, body, 1000),
            (headers, body + b" ", 1000),
            (headers, body, 1301),
            (headers, body, 699),
            (other, body, 1000),
            (self.signed("another"), body, 1000),
            ({**headers, "X-Service-Signature": signature.replace("t=1000", "t=1001")}, body, 1000),
            ({**headers, "X-Service-Signature": signature.upper()}, body, 1000),
            ({**headers, "X-Service-Signature": signature + "\n"}, body, 1000),
            ({**headers, "X-Service-Signature": signature[:-2]}, body, 1000),
        ]
        for given, sent, now in forged:
            with self.assertRaises(WebhookRejected):
                verify_webhook(given, sent, "secret", now=now)
        with self.assertRaises(ValueError):
            verify_webhook(headers, body, "")

    def test_of_a_session_are_not_those_of_a_run(self) -> None:
        usage = dict.fromkeys(
            ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"), 0
        )
        ids = dict.fromkeys(("runId", "flowId", "projectId", "sessionId"), "a")
        times = dict.fromkeys(("startedAt", "finishedAt"), "2026-01-01T00:00:00.000Z")
        states = {"status": "sleep", "agentStatus": "idle", "triggerType": "api", "labels": {}}
        results = dict.fromkeys(("exitCode", "result", "costUsd", "files"))
        body = json.dumps({**ids, **times, **states, **results, "usage": usage}).encode()
        headers = self.signed(event="session.ended", body=body)
        event = verify_webhook(headers, body, "secret", now=1000)
        self.assertEqual(event.type, "session.ended")
        with self.assertRaises(WebhookRejected):
            forged = {**headers, "X-Service-Event": "run.finished"}
            verify_webhook(forged, body, "secret", now=1000)

    def test_of_the_published_standard_vector_are_accepted(self) -> None:
        headers = {
            "webhook-id": VECTOR["id"],
            "webhook-timestamp": str(VECTOR["timeSeconds"]),
            "webhook-signature": f"v2,other {VECTOR['signature']}",
        }
        now = VECTOR["timeSeconds"]
        event = verify_webhook(headers, VECTOR["body"], VECTOR["secret"], now=now)
        self.assertEqual((event.type, event.delivery_id), ("unknown", VECTOR["id"]))
        with self.assertRaises(WebhookRejected):
            wrong = base64.b64encode(b"wrong").decode()
            verify_webhook(headers, VECTOR["body"], f"whsec_{wrong}", now=now)


def archive_of(*entries: tarfile.TarInfo, content: bytes = b"text") -> io.BytesIO:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for entry in entries:
            entry.size = len(content) if entry.isreg() else 0
            tar.addfile(entry, io.BytesIO(content))
    archive.seek(0)
    return archive


class Archives(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name, "out")

    def test_are_written_with_their_paths_and_modes(self) -> None:
        program = tarfile.TarInfo("ü/" * 60 + "run.sh")
        program.mode = 0o755
        self.assertEqual(extract(archive_of(program), self.folder), [program.name])
        written = self.folder / program.name
        self.assertEqual(written.read_bytes(), b"text")
        self.assertTrue(written.stat().st_mode & 0o100)

    def test_lead_out_of_the_folder_by_no_path_and_no_link(self) -> None:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        paths = ["../a", "a/../../b", "/tmp/flowrun-outside", "."]
        for entry in [link, *map(tarfile.TarInfo, paths)]:
            with self.assertRaises(ValueError):
                extract(archive_of(entry), self.folder)
        with self.assertRaises(ValueError):
            extract(archive_of(tarfile.TarInfo("../new/a")), self.folder)
        self.assertEqual(list(self.folder.parent.iterdir()), [self.folder])
        outside = self.folder.parent / "outside"
        outside.mkdir()
        (self.folder / "linked").symlink_to(outside)
        with self.assertRaises(ValueError):
            extract(archive_of(tarfile.TarInfo("linked/a")), self.folder)
        (outside / "target").write_text("old")
        (self.folder / "a").symlink_to(outside / "target")
        extract(archive_of(tarfile.TarInfo("a")), self.folder)
        self.assertEqual((outside / "target").read_text(), "old")
        self.assertEqual([path.name for path in outside.iterdir()], ["target"])

    def test_that_end_early_are_an_error(self) -> None:
        archive = archive_of(tarfile.TarInfo("a"), content=b"x" * 2000)
        archive.truncate(1500)
        with self.assertRaises(tarfile.TarError):
            extract(archive, self.folder)

    def test_keep_the_files_beside_those_that_are_added(self) -> None:
        archive = archive_of(tarfile.TarInfo("a"), tarfile.TarInfo("b"))
        kept = files_beside([FileContent("b", "new")], archive)
        self.assertEqual(kept, [FileContent("a", b"text", "0644")])


if __name__ == "__main__":
    unittest.main()
