// The invariants that every fault test checks on a run that has ended.
// Each check returns its violations in words; an empty list means that the invariants hold.

import { limits } from '../../core/limits.ts';
import { errorOf, finishedReasonOf } from '../../core/runs/end-cause.ts';
import type { Run } from '../../core/runs/run.ts';
import { checkTranscript } from './check-transcript.ts';
import type { Evidence } from './evidence.ts';
import { violationUnless } from './violation-unless.ts';

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
  const { run, causes, occupiesSlot, cursor, configLeft, workflow } = evidence;
  return [
    ...violationUnless(run.endedAt !== null, 'the run has not ended'),
    ...violationUnless(run.endCause !== null, 'the run has no cause'),
    ...violationUnless(
      causes.length === 1 && causes[0] === run.endCause,
      `the run ended as ${run.endCause}, and its causes were ${causes.join(', ')}`,
    ),
    ...violationUnless(run.status === 'sleep', `the run's status is ${run.status}`),
    ...violationUnless(!occupiesSlot, 'the run still occupies a slot'),
    ...violationUnless(cursor.closed, 'the log is not closed'),
    ...violationUnless(cursor.leaseOwner === null, `${cursor.leaseOwner} still holds the lease`),
    ...violationUnless(!configLeft, 'the configuration is still there'),
    ...violationUnless(workflow !== 'running', 'the workflow still runs'),
  ];
}

/** The log has no gap, and its last number is that of the run. */
function checkLog({ log, cursor }: Evidence): string[] {
  const wrong = log.find(({ seq }, index) => seq !== index + 1);
  return [
    ...violationUnless(
      wrong === undefined,
      `the log has ${wrong?.seq} where another number should be`,
    ),
    ...violationUnless(
      cursor.lastSeq === log.length,
      `the last number is ${cursor.lastSeq}, the log has ${log.length} frames`,
    ),
  ];
}

/** The webhook has the expected state, and was posted only if it was requested. */
function checkWebhook(evidence: Evidence): string[] {
  const { run, posts, wantsWebhook, isRefused } = evidence;
  const { state } = run.webhook;
  if (!wantsWebhook) {
    return violationUnless(
      state === 'none' && posts.length === 0,
      `the webhook was not requested: ${state}`,
    );
  }
  const expected = isRefused ? 'dropped' : 'delivered';
  return [
    ...violationUnless(state === expected, `the webhook is ${state}, not ${expected}`),
    ...violationUnless(isRefused || posts.length > 0, 'no post was made'),
    ...checkAttempts(evidence),
  ];
}

/** One claim, at most four attempts, identical bodies, and nothing after a success. */
function checkAttempts(evidence: Evidence): string[] {
  const { run, posts, attempts, webhookBody, deliveryId } = evidence;
  const { state } = run.webhook;
  const numbers = posts.map(({ headers }) => headers['x-service-attempt']);
  const firstSuccess = attempts.findIndex(({ status }) => isSuccess(status));
  return [
    ...violationUnless(
      errorIn(webhookBody) === errorOfRun(run),
      'the webhook names no cause, or another one',
    ),
    ...violationUnless(posts.length <= limits.webhook.attempts, `${posts.length} posts were made`),
    ...violationUnless(
      posts.length <= attempts.length,
      `${posts.length} posts of ${attempts.length} claims`,
    ),
    ...violationUnless(attempts.length === run.webhook.attempts, 'attempts are miscounted'),
    ...violationUnless(
      new Set(numbers).size === numbers.length,
      `attempts repeat: ${numbers.join(', ')}`,
    ),
    ...violationUnless(
      posts.every(({ body }) => body === webhookBody),
      'a body differs from the one that was frozen',
    ),
    ...violationUnless(
      posts.every(({ headers }) => headers['x-service-delivery-id'] === deliveryId),
      'a post names another delivery',
    ),
    ...violationUnless(
      firstSuccess === -1 || firstSuccess === attempts.length - 1,
      'an attempt was made after a success',
    ),
    ...violationUnless(
      (firstSuccess !== -1) === (state === 'delivered'),
      `${state}, but the attempts differ`,
    ),
  ];
}

function errorOfRun({ endCause, endDetail, exitCode }: Run): string | null {
  return endCause === null ? null : errorOf({ cause: endCause, detail: endDetail, exitCode });
}

/** Undefined if there is no body. */
function errorIn(body: string | null): string | null | undefined {
  if (body === null) return undefined;
  return (JSON.parse(body) as { error?: string | null }).error ?? null;
}

const isSuccess = (status: number | null): boolean =>
  status !== null && status >= 200 && status < 300;

/** Created once, started once, removed once; nothing is left. */
function checkContainer({ containersLeft, containerHistory, foldersLeft }: Evidence): string[] {
  const { created, started, removed } = containerHistory ?? { created: 1, started: 1, removed: 1 };
  return [
    ...violationUnless(
      containersLeft.length === 0,
      `containers are left: ${containersLeft.join(', ')}`,
    ),
    ...violationUnless(foldersLeft.length === 0, `folders are left: ${foldersLeft.join(', ')}`),
    ...violationUnless(created <= 1, `${created} containers were made`),
    ...violationUnless(started <= created, `${started} starts of ${created} containers`),
    ...violationUnless(removed === created, `${removed} of ${created} containers were removed`),
  ];
}
