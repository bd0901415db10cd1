// The header is `t=<unix seconds>,v1=<hex>`. The signature is an HMAC-SHA256 over `<t>.<raw body>`.

interface Signature {
  /** The seconds as they were sent, because they are signed. */
  time: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Node has no global name for this type. */
type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

export function parseSignature(header: string): Signature | null {
  const [, time, hex] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (time === undefined || hex === undefined) return null;
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return { time, bytes };
}

export function importKey(secret: string): Promise<HmacKey> {
  if (secret === '') throw new TypeError('The webhook secret is empty.');
  const bytes = new TextEncoder().encode(secret);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);
}

/** Compares in constant time. */
export function isSigned(
  { time, bytes }: Signature,
  key: HmacKey,
  body: Uint8Array,
): Promise<boolean> {
  const prefix = new TextEncoder().encode(`${time}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  return crypto.subtle.verify('HMAC', key, bytes, signed);
}
