import { FlowrunError } from '../http/errors.ts';
import { importKey, isSigned, readSignatures, type Signature } from './signature.ts';
import { readEvent, type WebhookEvent } from './webhook-events.ts';

/** The request does not come from the service, or is too old. Answer it with 400. */
export class WebhookRejected extends FlowrunError {
  constructor(reason: string) {
    super({ code: 'WEBHOOK_REJECTED', message: `The webhook is rejected: ${reason}.` });
  }
}

type HeaderFields = Record<string, string | readonly string[] | undefined>;

/** A `Request`, or the parts of one. The body must not have been parsed. */
export type WebhookRequest =
  | Request
  | { headers: Headers | HeaderFields; rawBody: Uint8Array<ArrayBuffer> | string };

interface VerifyOptions {
  /** The greatest difference between the time of the signature and now. The default is 300. */
  toleranceSeconds?: number;
  now?: Date;
}

/**
 * Returns the event of a request that the service has signed; otherwise throws `WebhookRejected`.
 * One signature is enough: of the service's headers, or of those of Standard Webhooks. While the
 * secret is rotated, pass both.
 */
export async function verifyWebhook(
  request: WebhookRequest,
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = new Date() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const body = await bodyOf(request);
  const header = headerReader(request.headers);
  const signatures = readSignatures(header);
  if (signatures.length === 0) throw new WebhookRejected('it has no signature');
  const keys = await Promise.all([secret].flat().map(importKey));
  let valid: Signature | null = null;
  for (const signature of signatures) {
    for (const key of keys) if (await isSigned(signature, key, body)) valid = signature;
  }
  if (valid === null) throw new WebhookRejected('its signature is wrong');
  const ageSeconds = Math.abs(now.getTime() / 1_000 - Number(valid.time));
  if (ageSeconds > toleranceSeconds)
    throw new WebhookRejected('its signature is too old, or a clock is wrong');
  const name = header('x-service-event');
  const text = new TextDecoder().decode(body);
  const event = readEvent(name, valid.deliveryId ?? header('x-service-delivery-id'), text);
  if (event === null) throw new WebhookRejected(`its body is not that of ${name}`);
  return event;
}

async function bodyOf(request: WebhookRequest): Promise<Uint8Array<ArrayBuffer>> {
  if (!('rawBody' in request)) return new Uint8Array(await request.arrayBuffer());
  const { rawBody } = request;
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  if (rawBody instanceof Uint8Array) return rawBody;
  throw new TypeError('rawBody must be the bytes or the text of the body.');
}

/** Node's header names are in lower case; those of other frameworks may not be. */
function headerReader(headers: Headers | HeaderFields): (name: string) => string {
  if (headers instanceof Headers) return (name) => headers.get(name) ?? '';
  const byName = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value].flat()[0]]),
  );
  return (name) => byName.get(name) ?? '';
}
