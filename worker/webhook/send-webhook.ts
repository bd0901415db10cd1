import { readFileSync } from 'node:fs';
import { createSecureContext, rootCertificates } from 'node:tls';
import { buildConnector, Client } from 'undici';
import { callbackUrlError } from '../../core/callback-url.ts';
import { limits } from '../../core/limits.ts';
import type { WebhookOutcome, WebhookRequest, WebhookSender } from '../../core/webhook.ts';
import { createAddressFilter } from '../../lib/net/public-address.ts';
import { clientLookup, type Lookup, resolveAllowed } from '../egress/resolve.ts';
import { pinnedLookup } from './pinned-lookup.ts';

interface WebhookSenderOptions {
  /** A certificate authority that is trusted in addition to the usual ones. */
  caFile: string | null;
  allowPrivate: readonly string[];
  lookup?: Lookup;
  /** Replaced in tests, so that no packet leaves the machine. */
  connect?: typeof buildConnector;
  attemptTimeoutMs?: number;
}

/**
 * Makes one attempt. The name is resolved once, and its addresses are checked and pinned. The
 * certificate is verified. Redirects and proxies of the environment are ignored. One deadline
 * covers everything.
 */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  // Of all attempts: it has the parsed certificates, which take a megabyte and 10 ms.
  const secureContext = createSecureContext(
    options.caFile ? { ca: [...rootCertificates, readFileSync(options.caFile, 'utf8')] } : {},
  );
  const { lookup = clientLookup(), connect = buildConnector } = options;
  const allows = createAddressFilter(options.allowPrivate);
  const timeoutMs = options.attemptTimeoutMs ?? limits.webhook.attemptTimeoutMs;

  return async (request) => {
    const url = new URL(request.url);
    const error = callbackUrlError(url);
    if (error !== null) return { outcome: 'blocked', reason: `its URL ${error}` };
    const deadline = AbortSignal.timeout(timeoutMs);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const found = await unless(deadline, resolveAllowed(host, { lookup, allows }));
    if (found === null) return { outcome: 'failed', reason: 'timed_out' };
    if (found.outcome === 'denied') return toOutcome(found.reason);
    const connector = connect({
      secureContext,
      rejectUnauthorized: true, // the environment could disable it
      timeout: timeoutMs,
      lookup: pinnedLookup(found.addresses),
    });
    return post({ url, connector, deadline, request });
  };
}

/** An unresolvable name may resolve at the next attempt. A private address is final. */
function toOutcome(reason: 'unresolvable' | 'not_public'): WebhookOutcome {
  return reason === 'unresolvable'
    ? { outcome: 'failed', reason }
    : { outcome: 'blocked', reason: 'its address is not public' };
}

interface Attempt {
  url: URL;
  connector: buildConnector.connector;
  deadline: AbortSignal;
  request: WebhookRequest;
}

async function post({ url, connector, deadline, request }: Attempt): Promise<WebhookOutcome> {
  const client = new Client(url.origin, { connect: connector });
  try {
    const { statusCode, body } = await client.request({
      method: 'POST',
      path: url.pathname + url.search,
      headers: request.headers,
      body: Buffer.from(request.body),
      signal: deadline,
    });
    await readAtMost(body, limits.webhook.responseMaxBytes);
    return { outcome: 'answered', status: statusCode };
  } catch {
    return { outcome: 'failed', reason: deadline.aborted ? 'timed_out' : 'not_connected' };
  } finally {
    await client.destroy();
  }
}

/** Only the status matters. The body is read up to a bound, so that the receiver can finish. */
async function readAtMost(body: AsyncIterable<Buffer>, maxBytes: number): Promise<void> {
  let seen = 0;
  try {
    for await (const chunk of body) {
      seen += chunk.length;
      if (seen > maxBytes) return;
    }
  } catch {
    // Aborted by the receiver or by the deadline.
  }
}

async function unless<T>(deadline: AbortSignal, work: Promise<T>): Promise<T | null> {
  return Promise.race([
    work,
    new Promise<null>((resolve) => {
      deadline.addEventListener('abort', () => resolve(null), { once: true });
    }),
  ]);
}
