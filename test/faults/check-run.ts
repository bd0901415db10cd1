// The invariants that every fault test checks on a run that has ended.
// Each check returns its violations in words; an empty list means that the invariants hold.

import { limits } from '../../core/limits.ts';
import { errorOf, finishedReasonOf } from '../../core/runs/end-cause.ts';
import type { Run } from '../../core/runs/run.ts';
import { checkTranscript } from './check-transcript.ts';
import type { RunRecords } from './run-records.ts';
import { violationUnless } from './violation-unless.ts';

export function checkRun(records: RunRecords): string[] {
  const { run, transcripts, log } = records;
  const reason =
    records.reason ?? (run.endCause === null ? 'error' : finishedReasonOf(run.endCause));
  return [
    ...checkEnd(records),
    ...checkLog(records),
    ...transcripts.flatMap((transcript) => checkTranscript(transcript, { log, reason })),
    ...checkWebhook(records),
    ...checkContainer(records),
  ];
}

function checkEnd(records: RunRecords): string[] {
  const { run, causes, occupiesSlot, logHead, configLeft, workflow } = records;
  return [
    ...violationUnless(run.endedAt !== null, 'the run has not ended'),
    ...violationUnless(run.endCause !== null, 'the run has no cause'),
    ...violationUnless(
      causes.length === 1 && causes[0] === run.endCause,
      `the run ended as ${run.endCause}, and its causes were ${causes.join(', ')}`,
    ),
    ...violationUnless(run.status === 'sleep', `the run's status is ${run.status}`),
    ...violationUnless(!occupiesSlot, 'the run still occupies a slot'),
    ...violationUnless(logHead.isFinal, 'the log is not final'),
    ...violationUnless(logHead.leaseOwner === null, `${logHead.leaseOwner} still holds the lease`),
    ...violationUnless(!configLeft, 'the secret configuration is not deleted'),
    ...violationUnless(workflow !== 'running', 'the workflow still runs'),
  ];
}

/** The log has no gap, and its last number is that of the run. */
function checkLog({ log, logHead }: RunRecords): string[] {
  const wrong = log.find(({ seq }, index) => seq !== index + 1);
  return [
    ...violationUnless(wrong === undefined, `the log has a gap before frame ${wrong?.seq}`),
    ...violationUnless(
      logHead.lastSeq === log.length,
      `the last number is ${logHead.lastSeq}, but the log has ${log.length} frames`,
    ),
  ];
}

/** The webhook has the expected state, and was posted only if it was requested. */
function checkWebhook(records: RunRecords): string[] {
  const { run, posts, wantsWebhook, isWebhookRejected } = records;
  const { state } = run.webhook;
  if (!wantsWebhook) {
    return violationUnless(
      state === 'none' && posts.length === 0,
      `the webhook was not requested: ${state}`,
    );
  }
  const expected = isWebhookRejected ? 'dropped' : 'delivered';
  return [
    ...violationUnless(state === expected, `the webhook is ${state}, not ${expected}`),
    ...violationUnless(isWebhookRejected || posts.length > 0, 'no webhook request arrived'),
    ...checkAttempts(records),
  ];
}

/** One claim, at most four attempts, identical bodies, and nothing after a success. */
function checkAttempts(records: RunRecords): string[] {
  const { run, posts, attempts, webhookBody, deliveryId } = records;
  const { state } = run.webhook;
  const numbers = posts.map(({ headers }) => headers['x-service-attempt']);
  const firstSuccess = attempts.findIndex(({ status }) => isSuccess(status));
  return [
    ...violationUnless(
      errorIn(webhookBody) === errorOfRun(run),
      'the error in the webhook is not that of the run',
    ),
    ...violationUnless(
      posts.length <= limits.webhook.attempts,
      `${posts.length} webhook requests arrived, more than ${limits.webhook.attempts}`,
    ),
    ...violationUnless(
      posts.length <= attempts.length,
      `${posts.length} webhook requests arrived, but ${attempts.length} attempts were claimed`,
    ),
    ...violationUnless(
      attempts.length === run.webhook.attempts,
      `${attempts.length} attempts were claimed, but the run counts ${run.webhook.attempts}`,
    ),
    ...violationUnless(
      new Set(numbers).size === numbers.length,
      `attempt numbers repeat: ${numbers.join(', ')}`,
    ),
    ...violationUnless(
      posts.every(({ body }) => body === webhookBody),
      'the body of a webhook request is not the stored one',
    ),
    ...violationUnless(
      posts.every(({ headers }) => headers['x-service-delivery-id'] === deliveryId),
      'a webhook request has another delivery id',
    ),
    ...violationUnless(
      firstSuccess === -1 || firstSuccess === attempts.length - 1,
      'an attempt was made after a success',
    ),
    ...violationUnless(
      (firstSuccess !== -1) === (state === 'delivered'),
      `the webhook is ${state}, but ${firstSuccess === -1 ? 'no' : 'an'} attempt succeeded`,
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
function checkContainer({ containersLeft, containerHistory, foldersLeft }: RunRecords): string[] {
  const { created, started, removed } = containerHistory ?? { created: 1, started: 1, removed: 1 };
  return [
    ...violationUnless(
      containersLeft.length === 0,
      `containers are left: ${containersLeft.join(', ')}`,
    ),
    ...violationUnless(foldersLeft.length === 0, `folders are left: ${foldersLeft.join(', ')}`),
    ...violationUnless(created <= 1, `${created} containers were created`),
    ...violationUnless(started <= created, `${started} starts of ${created} containers`),
    ...violationUnless(removed === created, `${removed} of ${created} containers were removed`),
  ];
}
