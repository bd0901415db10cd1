import { type WebhookEvent, webhookHeaders } from '../../../core/webhook.ts';
import { webhookLimits } from '../../../core/webhook-limits.ts';
import { signWebhook } from '../../../lib/sign-webhook.ts';

interface ForwardedEvent {
  eventId: string;
  event: WebhookEvent;
  runId: string | null;
  body: string;
}

export interface Forwarded {
  event: WebhookEvent;
  eventId: string;
  runId: string | null;
  /** Null if the receiver was not reached. */
  status: number | null;
  error: string | null;
  tookMs: number;
}

/** Sends an event as the service would send its first attempt, and never throws. */
export async function forwardEvent(
  { eventId, event, runId, body }: ForwardedEvent,
  { url, secret }: { url: string; secret: string },
): Promise<Forwarded> {
  const unixSeconds = Math.floor(Date.now() / 1_000);
  const headers = webhookHeaders({
    ...{ event, runId, deliveryId: eventId, attempt: 1, unixSeconds, nextSignature: null },
    signature: signWebhook(secret, { deliveryId: eventId, unixSeconds, body }),
  });
  const startedAt = performance.now();
  const answer = await post(url, { headers, body });
  return { event, eventId, runId, ...answer, tookMs: Math.round(performance.now() - startedAt) };
}

async function post(url: string, request: { headers: Record<string, string>; body: string }) {
  try {
    const response = await fetch(url, {
      ...request,
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(webhookLimits.attemptTimeoutMs),
    });
    await response.body?.cancel();
    return { status: response.status, error: null };
  } catch (error) {
    return { status: null, error: reasonOf(error) };
  }
}

/** The cause says more than `fetch failed`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'timed_out';
  const { cause } = error;
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  return code ?? error.message;
}
