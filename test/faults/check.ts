// The judge of every fault test: what must hold of a run that has ended, whatever died on its way.
// Each check names what it found wrong in words; no words mean that everything holds.

import { limits } from '../../core/limits.ts';
import { errorOf, finishedReasonOf } from '../../core/runs/end-cause.ts';
import type { Run } from '../../core/runs/run.ts';
import { checkTranscript } from './check-transcript.ts';
import type { Evidence } from './evidence.ts';
import { unless } from './unless.ts';

export function checkRun(evidence: Evidence): string[] {
  const { run, transcripts, log } = evidence;
  const reason =
    evidence.reason ?? (run.endCause === null ? 'error' : finishedReasonOf(run.endCause));
  return [
    ...checkEnd(evidence),
    ...checkLog(evidence),
    ...transcripts.flatMap((transcript) => checkTranscript(transcript, { log, reason })),
    ...checkWebhook(evidence),
    ...checkContainer(evidence),
  ];
}

function checkEnd(evidence: Evidence): string[] {
  const { run, causes, takesPlace, cursor, configLeft, workflow } = evidence;
  return [
    ...unless(run.endedAt !== null, 'the run has not ended'),
    ...unless(run.endCause !== null, 'the run has no cause'),
    ...unless(
      causes.length === 1 && causes[0] === run.endCause,
      `the run ended as ${run.endCause}, and its causes were ${causes.join(', ')}`,
    ),
    ...unless(run.status === 'sleep', `the run's status is ${run.status}`),
    ...unless(!takesPlace, 'the run still takes a place'),
    ...unless(cursor.closed, 'the log is not closed'),
    ...unless(cursor.leaseOwner === null, `${cursor.leaseOwner} still holds the lease`),
    ...unless(!configLeft, 'the configuration is still there'),
    ...unless(workflow !== 'running', 'the workflow still runs'),
  ];
}

/** The numbers of the log are without a gap, and the cursor stands at its end. */
function checkLog({ log, cursor }: Evidence): string[] {
  const wrong = log.find(({ seq }, index) => seq !== index + 1);
  return [
    ...unless(wrong === undefined, `the log has ${wrong?.seq} where another number should be`),
    ...unless(
      cursor.lastSeq === log.length,
      `the cursor stands at ${cursor.lastSeq}, the log has ${log.length} frames`,
    ),
  ];
}

/** It came to what it had to come to, and was posted where somebody takes it; never where it was not asked for. */
function checkWebhook(evidence: Evidence): string[] {
  const { run, posts, wantsWebhook, isRefused } = evidence;
  const { state } = run.webhook;
  if (!wantsWebhook) {
    return unless(state === 'none' && posts.length === 0, `nobody asked for the webhook: ${state}`);
  }
  const wanted = isRefused ? 'dropped' : 'delivered';
  return [
    ...unless(state === wanted, `the webhook is ${state}, not ${wanted}`),
    ...unless(isRefused || posts.length > 0, 'no post was made'),
    ...checkAttempts(evidence),
  ];
}

/** One claim, four attempts at most, one body to the bit; nothing after a success. */
function checkAttempts(evidence: Evidence): string[] {
  const { run, posts, attempts, webhookBody, deliveryId } = evidence;
  const { state } = run.webhook;
  const numbers = posts.map(({ headers }) => headers['x-service-attempt']);
  const firstSuccess = attempts.findIndex(({ status }) => isSuccess(status));
  return [
    ...unless(
      errorIn(webhookBody) === errorOfRun(run),
      'the webhook names no cause, or another one',
    ),
    ...unless(posts.length <= limits.webhookAttempts, `${posts.length} posts were made`),
    ...unless(
      posts.length <= attempts.length,
      `${posts.length} posts of ${attempts.length} claims`,
    ),
    ...unless(attempts.length === run.webhook.attempts, 'attempts are miscounted'),
    ...unless(new Set(numbers).size === numbers.length, `attempts repeat: ${numbers.join(', ')}`),
    ...unless(
      posts.every(({ body }) => body === webhookBody),
      'a body differs from the one that was frozen',
    ),
    ...unless(
      posts.every(({ headers }) => headers['x-service-delivery-id'] === deliveryId),
      'a post names another delivery',
    ),
    ...unless(
      firstSuccess === -1 || firstSuccess === attempts.length - 1,
      'an attempt was made after a success',
    ),
    ...unless(
      (firstSuccess !== -1) === (state === 'delivered'),
      `${state}, but the attempts differ`,
    ),
  ];
}

function errorOfRun({ endCause, endDetail, exitCode }: Run): string | null {
  return endCause === null ? null : errorOf({ cause: endCause, detail: endDetail, exitCode });
}

/** Undefined where there is no body to look into. */
function errorIn(body: string | null): string | null | undefined {
  if (body === null) return undefined;
  return (JSON.parse(body) as { error?: string | null }).error ?? null;
}

const isSuccess = (status: number | null): boolean =>
  status !== null && status >= 200 && status < 300;

/** Made once, started once, removed once; nothing of it is left. */
function checkContainer({ containersLeft, containerHistory, foldersLeft }: Evidence): string[] {
  const { created, started, removed } = containerHistory ?? { created: 1, started: 1, removed: 1 };
  return [
    ...unless(containersLeft.length === 0, `containers are left: ${containersLeft.join(', ')}`),
    ...unless(foldersLeft.length === 0, `folders are left: ${foldersLeft.join(', ')}`),
    ...unless(created <= 1, `${created} containers were made`),
    ...unless(started <= created, `${started} starts of ${created} containers`),
    ...unless(removed === created, `${removed} of ${created} containers were removed`),
  ];
}
