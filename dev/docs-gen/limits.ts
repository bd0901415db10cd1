// The page of bounds and of what a machine needs: every number is the code's own.

import { limits } from '../../core/limits.ts';

const units: [number, string][] = [
  [1024 ** 3, 'GiB'],
  [1024 ** 2, 'MiB'],
  [1024, 'KiB'],
];
const times: [number, string][] = [
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

const inUnits = (value: number, known: [number, string][]): string => {
  const [size, name] = known.find(([each]) => value >= each && value % each === 0) ?? [1, ''];
  return `${value / size} ${name}`.trim();
};
const bytes = (value: number): string => inUnits(value, units);
const dayMs = 86_400_000;
const time = (valueMs: number): string =>
  valueMs > dayMs && valueMs % dayMs === 0 ? `${valueMs / dayMs} days` : inUnits(valueMs, times);
const count = (value: number): string => String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ' ');

/** What a client meets, and how it is answered there. */
const met: [what: string, bound: string, beyond: string][] = [
  ['A prompt, a chat message', bytes(limits.promptMaxBytes), '400'],
  ['A request’s body', bytes(limits.requestBodyMaxBytes), '413'],
  [
    'Files in a request',
    `${limits.filesPerRequestMax}, ${bytes(limits.fileMaxBytes)} each, ${bytes(limits.filesPerRequestMaxBytes)} in all`,
    '400',
  ],
  [
    'Files of a flow',
    `${bytes(limits.flowStorageBytes)}, ${count(limits.flowFilesMax)} files`,
    '400 with `limit` and `current`',
  ],
  [
    '`env`',
    `${limits.envNamesMax} names, ${bytes(limits.envValueMaxBytes)} each, ${bytes(limits.envMaxBytes)} in all`,
    '400',
  ],
  ['`mcpServers`', `${limits.mcpServersMax}, ${bytes(limits.mcpServersMaxBytes)} in all`, '400'],
  ['`outputSchema`', bytes(limits.outputSchemaMaxBytes), '400'],
  ['Labels', `${limits.labelsMax}, values of ${limits.labelValueMaxChars} characters`, '400'],
  [
    'Requests of a key',
    `${limits.keyRatePerMinute} a minute; up to ${count(limits.keyRatePerMinuteMax)} by its \`rateLimitRpm\``,
    '429 `RATE_LIMITED`',
  ],
  ['Runs of a project at a time', '10; a setting of the project', '429 `CONCURRENT_LIMIT`'],
  ['Runs of a project a month', 'none; a setting of the project', '429 `MONTHLY_QUOTA`'],
  [
    'Open streams',
    `${limits.streamsPerKey} of a key, ${count(limits.streamsPerProject)} of a project`,
    '429 `STREAM_LIMIT`',
  ],
  ['Messages that wait in a session', String(limits.sessionQueueMax), '429 `QUEUE_FULL`'],
  ['A session without a message', time(limits.sessionInactivityMs), 'it ends as `timed_out`'],
  ['An answer that waits: `?wait=`', `${limits.waitMaxSeconds} s`, 'the run as it is then'],
  ['An answer that waits: chat', time(limits.chatWaitMs), '202'],
  ['An idempotency key holds', time(limits.idempotencyWindowMs), 'a new run'],
  [
    'What is kept of a working directory',
    `${bytes(limits.snapshotMaxBytes)}, ${count(limits.snapshotMaxFiles)} files`,
    'the rest is left out',
  ],
  ['A line of the agent', bytes(limits.agentLineMaxBytes), 'it is cut, and marked'],
  [
    'What Redis holds of a run for readers who come back',
    `${count(limits.replayBufferFrames)} frames or ${bytes(limits.replayBufferBytes)}, until ${time(limits.replayBufferAfterEndMs)} after its end`,
    'it is read from Postgres',
  ],
];

/** The page for people who run the service, in Markdown. */
export const makeLimits = (): string => `# Sizing and limits

This page is written by \`npm run describe\`. What can be set is in [settings.md](settings.md), or a flow's \`resources\`.

## What it needs

| of | for | so much |
|---|---|---|
| memory of a host | a sandbox | up to ${bytes(limits.sandboxMemoryBytes)} unless its flow says otherwise; some 130 MiB while its agent waits |
| | all of them | \`HOST_CAPACITY\` bounds how many there are; raise it where agents are light |
| | sessions without work | they keep their places until somebody needs one: where every host is full, the one that is idle for longest is put to sleep, whoever watches it; not one that has asked a question, and one whose agent goes on in the background last. To its project an awake session counts as a run |
| processors of a host | a sandbox | ${limits.sandboxCpus} unless its flow says otherwise, ${limits.sandboxStartCpus} while it starts; none while it is paused |
| disk of a host | a sandbox | \`SPOOL_MAX_BYTES\` and \`WORKSPACE_MAX_BYTES\` at most; below ${bytes(limits.diskFreeMinBytes)}, or room for ${count(limits.diskFreeMinInodes)} files, the doctor says so |
| disk of Postgres | logs and files | as much as agents write, for \`RUN_RETENTION_DAYS\`; the doctor's \`retention\` names the largest tables |
| connections to Postgres | each API process, each worker | 20 at most; up to 4 stay open when there is nothing to do |
| memory of Redis | a run | ${bytes(limits.replayBufferBytes)} at most, until ${time(limits.replayBufferAfterEndMs)} after its end |

API processes share nothing but the stores: put as many as you like behind one address. Workers are hosts: one each
([more hosts](operate.md#more-hosts)).

## What no setting changes

| what | at most | beyond |
|---|---|---|
${met.map((row) => `| ${row.join(' | ')} |`).join('\n')}

## What is kept, and for how long

A worker removes it by itself, rows every ${time(limits.retentionEveryMs)} and blobs every ${time(limits.blobGcEveryMs)}; \`flowrun doctor\` counts what is due.

| what | until |
|---|---|
| a run's record | it is deleted |
| its log and its files | \`RUN_RETENTION_DAYS\` (${limits.runRetentionDays}) after its end |
| a session's files | \`SESSION_FILE_RETENTION_DAYS\` (${limits.sessionFileRetentionDays}) after its end |
| attempts at webhooks | \`WEBHOOK_ATTEMPT_RETENTION_DAYS\` (${limits.webhookAttemptRetentionDays}) |
| idempotency keys, and what is left of a deleted run | ${time(limits.tombstoneTtlMs)} |
| content that nothing names any more | ${time(limits.unreferencedBlobTtlMs)} |
| calls of a key by day | ${limits.keyUsageDays} days |
`;
