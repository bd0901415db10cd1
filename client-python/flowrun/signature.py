"""
A request has two forms of signatures. Both are an HMAC-SHA256 with the same secret:
- `X-Service-Signature: t=<unix seconds>,v1=<hex>` signs `<t>.<raw body>`.
- `Webhook-Signature: v1,<base64> …` of Standard Webhooks signs `<id>.<time>.<raw body>`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import Mapping, Optional


@dataclass(frozen=True)
class Signature:
    time: str
    """The seconds as they were sent, because they are signed."""
    delivery_id: Optional[str]
    """None: it is not signed."""
    digest: bytes

    def is_of(self, secret: str, body: bytes) -> bool:
        """Compares in constant time."""
        prefix = "" if self.delivery_id is None else f"{self.delivery_id}."
        signed = f"{prefix}{self.time}.".encode() + body
        return hmac.compare_digest(
            hmac.new(_key(secret), signed, hashlib.sha256).digest(), self.digest
        )


def read_signatures(headers: Mapping[str, str]) -> list[Signature]:
    """All signatures of a request that have the right form. The names are in lower case."""
    names = ("x-service-signature", "x-service-signature-next")
    own = [_parse_own(headers.get(name, "")) for name in names]
    delivery_id, time = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if delivery_id != "" and re.fullmatch(r"[0-9]{1,12}", time):
        parts = headers.get("webhook-signature", "").split(" ")
        own += [_parse_standard(part, delivery_id, time) for part in parts]
    return [signature for signature in own if signature is not None]


def _parse_own(text: str) -> Optional[Signature]:
    match = re.fullmatch(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})", text)
    return Signature(match[1], None, bytes.fromhex(match[2])) if match else None


def _parse_standard(text: str, delivery_id: str, time: str) -> Optional[Signature]:
    """Signatures of other versions are skipped, as the standard says."""
    match = re.fullmatch(r"v1,([A-Za-z0-9+/]{43}=)", text)
    return Signature(time, delivery_id, base64.b64decode(match[1])) if match else None


def _key(secret: str) -> bytes:
    """Also reads the form of a secret that libraries for Standard Webhooks expect."""
    if secret == "":
        raise ValueError("The webhook secret is empty.")
    if secret.startswith("whsec_"):
        return base64.b64decode(secret[len("whsec_") :])
    return secret.encode()
