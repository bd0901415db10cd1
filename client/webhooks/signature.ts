// A request has two forms of signatures. Both are an HMAC-SHA256 with the same secret:
// - `X-Service-Signature: t=<unix seconds>,v1=<hex>` signs `<t>.<raw body>`.
// - `Webhook-Signature: v1,<base64> …` of Standard Webhooks signs `<id>.<time>.<raw body>`.

export interface Signature {
  /** The seconds as they were sent, because they are signed. */
  time: string;
  /** Null: it is not signed. */
  deliveryId: string | null;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Node has no global name for this type. */
type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** All signatures of a request that have the right form. */
export function readSignatures(header: (name: string) => string): Signature[] {
  const own = ['x-service-signature', 'x-service-signature-next'].flatMap((name) =>
    parseSignature(header(name)),
  );
  const [deliveryId, time] = [header('webhook-id'), header('webhook-timestamp')];
  if (deliveryId === '' || !/^\d{1,12}$/.test(time)) return own;
  const standard = header('webhook-signature').split(' ').flatMap(parseStandard);
  return [...own, ...standard.map((bytes) => ({ time, deliveryId, bytes }))];
}

function parseSignature(text: string): Signature[] {
  const [, time, hex] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(text) ?? [];
  if (time === undefined || hex === undefined) return [];
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return [{ time, deliveryId: null, bytes }];
}

/** Signatures of other versions are skipped, as the standard says. */
function parseStandard(text: string): Uint8Array<ArrayBuffer>[] {
  const [, base64] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(text) ?? [];
  return base64 === undefined ? [] : [bytesOf(base64)];
}

/** Also reads the form of a secret that libraries for Standard Webhooks expect. */
export function importKey(secret: string): Promise<HmacKey> {
  if (secret === '') throw new TypeError('The webhook secret is empty.');
  const [, base64] = /^whsec_(.+)$/.exec(secret) ?? [];
  const bytes = base64 === undefined ? new TextEncoder().encode(secret) : bytesOf(base64);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

/** Compares in constant time. */
export function isSigned(
  { time, deliveryId, bytes }: Signature,
  key: HmacKey,
  body: Uint8Array,
): Promise<boolean> {
  const prefix = new TextEncoder().encode(`${deliveryId === null ? '' : `${deliveryId}.`}${time}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  return crypto.subtle.verify('HMAC', key, bytes, signed);
}
