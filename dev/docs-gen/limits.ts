// Generates the page of limits and sizing. Limits, defaults and intervals come from the code.

import { flowVersionLimits } from '../../core/flows/flow-version.ts';
import { packingLimits } from '../../core/frames/packing-limits.ts';
import { limits } from '../../core/limits.ts';
import { modelLimits } from '../../core/model/model-limits.ts';
import { type LimitRow, projectLimits } from './project-limits.ts';
import { reconcilerJobs } from './reconciler-jobs.ts';
import { sizing } from './sizing.ts';
import { bytes, count, time } from './units.ts';

const fixedLimits: LimitRow[] = [
  ['Prompt, chat message', bytes(limits.text.promptMaxBytes), '400'],
  ['Request body that may have files', bytes(limits.http.largeBodyMaxBytes), '413'],
  ['Body that opens or configures a session or flow', bytes(limits.http.mediumBodyMaxBytes), '413'],
  ['Any other request body', bytes(limits.http.smallBodyMaxBytes), '413'],
  ['Headers of a request', time(limits.http.headersTimeoutMs), '408'],
  [
    'Time for a body',
    `never ${time(limits.http.bodyPace.stallMs)} without a byte; ${bytes(limits.http.bodyPace.minBytesPerSecond)} per second on average after ${time(limits.http.bodyPace.graceMs)}`,
    '408',
  ],
  [
    'JSON in a body',
    `${limits.http.json.depthMax} levels, ${count(limits.http.json.valuesMax)} values`,
    '400',
  ],
  [
    'Files in a request',
    `${limits.file.perRequestMax}, ${bytes(limits.file.maxBytes)} each, ${bytes(limits.file.perRequestMaxBytes)} in total`,
    '400',
  ],
  [
    'Archive of files in a request',
    `${bytes(limits.http.archiveMaxBytes)}, compressed and unpacked, and ${count(limits.http.archiveEntriesMax)} entries; its files have the limits above`,
    '413; 400 for the entries',
  ],
  [
    'Files of a flow',
    `${bytes(limits.flow.storageBytes)}, ${count(limits.flow.filesMax)} files`,
    '400 with `limit` and `current`',
  ],
  [
    'Superseded files of a flow that its versions keep',
    `${bytes(flowVersionLimits.keptFileBytes)}, ${count(flowVersionLimits.keptFiles)} files`,
    'the oldest are no longer kept; a restore of their version gets 409 `FILES_NOT_KEPT`',
  ],
  [
    'Changed files in a comparison of versions',
    count(flowVersionLimits.diffFilesMax),
    'the first ones are listed',
  ],
  [
    '`env`',
    `${limits.env.namesMax} names, ${bytes(limits.env.valueMaxBytes)} each, ${bytes(limits.env.maxBytes)} in total`,
    '400',
  ],
  [
    '`mcpServers`',
    `${limits.mcp.serversMax}, ${bytes(limits.mcp.serversMaxBytes)} in total`,
    '400',
  ],
  ['`outputSchema`', bytes(limits.run.outputSchemaMaxBytes), '400'],
  ['Labels', `${limits.label.maxCount}, values of ${limits.label.valueMaxChars} characters`, '400'],
  ...projectLimits,
  [
    `Bodies over ${bytes(limits.http.smallBodyMaxBytes)} in memory`,
    `${bytes(limits.http.bodyBudget.maxBytes)} per API process, ${bytes(limits.http.bodyBudget.ownerMaxBytes)} of them per key; operators count as one key`,
    `503 after ${time(limits.http.bodyBudget.waitMs)}`,
  ],
  [
    `Unread answers to \`GET\` over ${bytes(limits.http.smallAnswerMaxBytes)} in memory, without streams`,
    `${bytes(limits.http.answerBudget.maxBytes)} per API process, ${bytes(limits.http.answerBudget.ownerMaxBytes)} of them per key; operators count as one key`,
    `503 after ${time(limits.http.answerBudget.waitMs)}; at once if more than ${bytes(limits.http.answerBudget.waitersMaxBytes)} wait`,
  ],
  [
    'Page of a log',
    `${bytes(limits.page.logMaxBytes)}; it ends with the frame that reaches the size`,
    'a shorter page',
  ],
  [
    'Page of runs or sessions',
    `${bytes(limits.page.runsMaxBytes)} of results; it ends with the run or session that reaches the size`,
    'a shorter page',
  ],
  [
    'Page of queued messages',
    `${bytes(limits.page.runsMaxBytes)} of texts; it ends with the message that reaches the size`,
    'a shorter page',
  ],
  [
    'Page of flows',
    `${bytes(limits.page.flowsMaxBytes)} of prompts and instructions; it ends with the flow that reaches the size`,
    'a shorter page',
  ],
  [
    'Connections to the API',
    `${count(limits.http.connectionsMax)} per API process`,
    'the connection is closed',
  ],
  ['Unread answer or stream', time(limits.http.stallMs), 'the client is disconnected'],
  [
    'Open streams',
    `${limits.stream.perKey} per key or operator, ${count(limits.stream.perProject)} per project`,
    '429 `STREAM_LIMIT`',
  ],
  [
    'Latest frames of streamed runs in memory',
    `${count(limits.feed.frames)} frames or ${bytes(limits.feed.bytes)} per run, ${bytes(limits.feed.totalBytes)} per API process`,
    'readers that fall behind get frames from Redis or Postgres',
  ],
  [
    'Unread replays in memory',
    `${bytes(limits.stream.replayBudget.maxBytes)} per API process, ${bytes(limits.stream.replayBudget.ownerMaxBytes)} of them per key`,
    `the reader waits; after ${time(limits.stream.replayBudget.waitMs)} its stream ends, and the client reconnects`,
  ],
  [
    'Streams of a key that return after a restart',
    `${Math.round(100 / limits.stream.reconnectSpacing)} % of its requests per minute`,
    'each waits as long as its `retry:` says',
  ],
  [
    'Requests that wait for a run or a turn',
    `${limits.http.waits.perKey} per key, ${count(limits.http.waits.perProject)} per project, in each API process`,
    '429 `WAIT_LIMIT`; nothing is started or sent',
  ],
  ['Queued messages per session', String(limits.session.queueMax), '429 `QUEUE_FULL`'],
  [
    'Session without a message',
    time(limits.session.inactivityMs),
    'the session ends with `timed_out`',
  ],
  ['Waiting for a run: `?wait=`', `${limits.run.waitMaxSeconds} s`, 'the current state of the run'],
  ['Waiting for a chat turn', time(limits.session.chatWaitMs), '202'],
  ['Lifetime of an idempotency key', time(limits.idempotency.windowMs), 'a new run'],
  [
    'Snapshot of a working directory',
    `${bytes(limits.snapshot.maxBytes)}, ${count(limits.snapshot.maxFiles)} files and links`,
    'the rest is not stored, and listed in `files.skipped`',
  ],
  [
    'Calls to the host of an active run',
    `${limits.hostRpc.slots} at a time per host; a project may start one while it holds fewer slots than are free`,
    'the call waits',
  ],
  [
    'Files of an active run that its host stores or writes',
    time(limits.hostRpc.filesTimeoutMs),
    '503; a list has the files that were stored before',
  ],
  [
    'Answer to a question that the host of a run delivers',
    time(limits.interaction.deliveryTimeoutMs),
    '200; the answer is stored, and the host delivers it later',
  ],
  ['Webhook endpoints of a project', String(limits.webhook.endpointsPerProject), '400'],
  [
    'Events of a project that are delivered at a time',
    String(limits.webhook.eventsInProgress),
    'the event waits',
  ],
  [
    'Webhook attempts',
    `${limits.webhook.slots} common slots and ${limits.webhook.backlogSlots} backlog slots per worker; [webhooks](api/webhooks.md) says which are used`,
    'the attempt waits',
  ],
  [
    `Webhook bodies over ${bytes(limits.webhook.smallBodyBytes)} in memory`,
    `${bytes(limits.webhook.bodyBudget.maxBytes)} per worker and kind of slots, ${bytes(limits.webhook.bodyBudget.ownerMaxBytes)} of them per project`,
    'the attempt waits',
  ],
  [
    'Control requests of a sandbox to its worker',
    `${limits.control.perSecond} per second after a burst of ${limits.control.burst}; ${limits.control.requestsMax} at a time, one of them a long poll`,
    '429 or 503; the sandbox retries',
  ],
  [
    'Unread control answers of a sandbox',
    `${bytes(limits.control.unreadMaxBytes)}, each for ${time(limits.control.readTimeoutMs)}`,
    '503; the connection is closed',
  ],
  [
    'Connections of a sandbox to its worker',
    count(limits.control.connectionsMax),
    'the connection is closed',
  ],
  [
    'One line of agent output',
    bytes(limits.spool.lineMaxBytes),
    'the line is truncated and marked',
  ],
  [
    'File tree in a stream',
    `${count(limits.fileTree.maxNodes)} files and directories, ${limits.fileTree.maxDepth} levels, ${bytes(limits.fileTree.maxBytes)} of JSON`,
    'files beyond the limit are not shown',
  ],
  [
    'Replay buffer of a run in Redis',
    `${count(limits.replay.bufferFrames)} frames or ${bytes(limits.replay.bufferBytes)}, until ${time(limits.replay.bufferAfterEndMs)} after its end`,
    'frames are read from Postgres',
  ],
];

/** The page for operators, in Markdown. */
export const makeLimits = (): string => `# Sizing and limits

This page is generated by \`npm run describe\`. [Settings](settings.md) and a flow's \`resources\`
change some of these values.

## Sizing

${sizing}

API processes share nothing but the stores, so any number can run behind one address. Each worker is
one host: see [more hosts](more-hosts.md). [Sizing for many sessions](sizing.md) has measured costs
and rules.

## Fixed limits

| subject | limit | beyond the limit |
|---|---|---|
${fixedLimits.map((row) => `| ${row.join(' | ')} |`).join('\n')}

${reconcilerJobs}
## Retention

Workers remove data automatically. \`flowrun doctor\` counts overdue data. The log of a run is
compressed ${time(packingLimits.afterMs)} or more after its end. Readers get the same pages, and the storage quota counts
the compressed size.

| data | removed |
|---|---|
| run record, with its prompt, result and webhook body | when the run is deleted, so operators can redeliver until then |
| log and files of a run, with its input files | \`RUN_RETENTION_DAYS\` (${limits.retention.runDays}) after its end |
| log of a session, with its messages, replies and questions | \`RUN_RETENTION_DAYS\` (${limits.retention.runDays}) after its end; as long as a session gets messages it does not end, and nothing of its log is removed |
| files of a session, with its input files and transcript | \`SESSION_FILE_RETENTION_DAYS\` (${limits.retention.sessionFileDays}) after its end |
| files of a message | when its turn has ended; they remain files of the session |
| versions of a flow | when it has ${flowVersionLimits.kept} later ones |
| superseded files of a flow | when none of its versions keeps them and no active run started with them |
| webhook delivery attempts, events for webhook endpoints | after \`WEBHOOK_ATTEMPT_RETENTION_DAYS\` (${limits.retention.webhookAttemptDays}) |
| model calls with their cost, including those of deleted runs | ${time(modelLimits.ledgerRetentionMs)} (13 months) after the call |
| idempotency keys, tombstones of deleted runs | after ${time(limits.retention.tombstoneTtlMs)} |
| unreferenced blobs | after ${time(limits.blob.unreferencedTtlMs)} |
| daily request counts of a key | after ${limits.key.usageDays} days |
`;
