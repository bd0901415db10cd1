import { operatorTokenLimits } from '../../core/keys/operator-tokens.ts';
import { runTokenLimits } from '../../core/keys/run-tokens.ts';
import { limits } from '../../core/limits.ts';
import { childRunLimits } from '../../core/runs/child-runs.ts';
import { bytes, count, time } from './units.ts';

/** A limit that a client can hit, and the response beyond it. */
export type LimitRow = [subject: string, limit: string, beyond: string];

/** The limits of projects and of the credentials for them. */
export const projectLimits: LimitRow[] = [
  [
    'Requests per key',
    `${limits.key.ratePerMinute} per minute; up to ${count(limits.key.ratePerMinuteMax)} with \`rateLimitRpm\``,
    '429 `RATE_LIMITED`',
  ],
  [
    'Validity of an operator token',
    `${time(operatorTokenLimits.maxMs)}; ${time(operatorTokenLimits.defaultMs)} by default`,
    '400',
  ],
  ['Projects of an operator token', `all, or at most ${operatorTokenLimits.projectsMax}`, '400'],
  [
    'Validity of a run token',
    `${time(runTokenLimits.maxSeconds * 1_000)}; this is also the default. Its requests count against the rate limit of its key`,
    '400',
  ],
  [
    'Concurrent runs per project',
    `${limits.project.concurrentRunsDefault}; configurable per project`,
    '429 `CONCURRENT_LIMIT`',
  ],
  [
    'Runs that agents start',
    `at most ${count(childRunLimits.runs.max)} per run tree, ${childRunLimits.concurrent.max} of them at the same time, as \`childRuns\` of the flow permits; at most ${childRunLimits.depth.default} deep (\`RUN_DEPTH_MAX\`)`,
    '429 `RUN_TREE_LIMIT`',
  ],
  [
    'Requests of an agent to the service',
    `${count(childRunLimits.ratePerMinute)} per minute, ${childRunLimits.concurrentCallsMax} at the same time, ${bytes(childRunLimits.callMaxBytes)} each`,
    '429 `RATE_LIMITED`, 503 or 413',
  ],
  [
    'Open sessions per project',
    `${count(limits.project.openSessionsDefault)}; configurable per project`,
    '429 `SESSION_LIMIT`',
  ],
  [
    'Stored files, transcripts, logs, prompts, messages and results per project',
    `${bytes(limits.project.storageDefaultBytes)}; configurable per project`,
    '400 with `limit` and `current` for new runs, sessions, messages and files; working agents end with `disk_full`',
  ],
  ['Runs per project and month', 'unlimited; configurable per project', '429 `MONTHLY_QUOTA`'],
  [
    'Cost of the model calls per project, flow or key, and month',
    'unlimited; configurable per project, flow and key',
    '429 `BUDGET_REACHED` for new runs and messages; runs end with `budget_exceeded`',
  ],
];
