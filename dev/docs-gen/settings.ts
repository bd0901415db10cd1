// Every setting, as the configuration's schema has it, and what it is for.

import { z } from 'zod';
import { apiVariables, serviceVariables, workerVariables } from '../../config/variables.ts';
import { furtherSettings } from './compose-settings.ts';

type Shape = Record<string, z.ZodType>;

interface Part {
  title: string;
  shape: Shape;
}

const parts: Part[] = [
  { title: 'API and worker', shape: serviceVariables },
  { title: 'API', shape: apiVariables },
  { title: 'Worker', shape: workerVariables },
];

type Name =
  | keyof typeof serviceVariables
  | keyof typeof apiVariables
  | keyof typeof workerVariables;

const purposes: Record<Name, string> = {
  DATABASE_URL:
    'Postgres, which holds the truth: directly, or through session pooling. For TLS with `?sslmode=verify-full`, and `sslrootcert`, `sslcert` and `sslkey` as names of files.',
  REDIS_URL: 'Redis: live frames, rate limits, presence; nothing that cannot be lost.',
  REDIS_TLS_CA:
    'With a rediss:// address: what has signed its certificate, instead of the usual authorities.',
  REDIS_TLS_CERT: 'The certificate that is shown to Redis, where it demands one.',
  REDIS_TLS_KEY: 'The key of that certificate.',
  ENCRYPTION_KEY:
    'Seals configurations and secrets in Postgres. Keep a copy: without it they cannot be read.',
  INSTANCE: 'The name of this service among others on the same Redis, Temporal and Docker.',
  API_HOST: 'Where the API listens.',
  API_PORT: 'The port that it listens on.',
  PUBLIC_URL:
    'The address by which clients and operators reach the API. It may have a path, which the proxy in front takes away.',
  WEBHOOK_ALLOW_PRIVATE: 'Networks that are not public and may receive webhooks all the same.',
  LOG_LEVEL: 'What is logged.',
  METRICS_HOST: 'Where metrics are served; nobody has to sign in to read them.',
  METRICS_PORT:
    'The port of this process’s metrics. Each process needs one of its own: in the local stack the worker has the next one.',
  RUN_TIMEOUT_MS: 'How long a run, or a turn of a session, may take.',
  STALL_TIMEOUT_MS: 'How long a working agent may be silent.',
  AFTER_RESULT_GRACE_MS: 'How long an agent may stay after its result.',
  NO_CAPACITY_TIMEOUT_MS: 'How long an admitted run waits for a place on a host.',
  RECONCILE_EVERY_MS: 'How often Postgres, Temporal and Docker are compared.',
  LEASE_MS: 'How long a sandbox’s log is a worker’s own without a word from it.',
  HOST_LOST_MS:
    'How long a host may be silent before others take over what it had; its other times are parts of this one.',
  SESSION_IDLE_MS: 'How long an idle session keeps its sandbox with nobody watching.',
  SESSION_ATTENDED_IDLE_MS: 'The same while somebody holds its stream open.',
  SESSION_PAUSE_AFTER_MS: 'How long an idle agent goes on running before it is paused.',
  SESSION_TURNS_PER_HISTORY: 'After how many turns a session’s workflow begins a new history.',
  FAILPOINT: 'Where the process is to die, for tests.',
  OFFLINE_MODEL_URL:
    'What answers, with made-up words, where no `ANTHROPIC_API_KEY` is given; the log and the first page say so.',
  HAS_MODEL_KEY: 'Whether the worker has a key for the model, which the API itself never sees.',
  CORS_ORIGINS: 'The origins whose pages may call the API from a browser.',
  TRUSTED_PROXIES:
    'The proxies in front whose `X-Forwarded-For` is believed, so that each caller behind them counts as one of its own where unknown keys are slowed down.',
  DATA_DIR: 'The folder of this host: sockets, spools, working directories. One worker each.',
  DATA_VOLUME:
    'The Docker volume that `DATA_DIR` is the root of, where the worker is a container itself.',
  ANTHROPIC_API_KEY: 'The key for the model API. It never enters a sandbox.',
  ANTHROPIC_BASE_URL: 'The model API.',
  SANDBOX_IMAGE: 'The image that holds the agent.',
  DOCKER_HOST: 'The Docker Engine that the sandboxes run on.',
  SANDBOX_RUNTIME:
    'What sandboxes run on: `runsc` is gVisor, a kernel of their own; `auto` is gVisor where the engine has it at the worker’s start, else `runc`. What is set and not there starts nothing.',
  HOST_CAPACITY: 'How many sandboxes this host takes at a time.',
  SPOOL_MAX_BYTES: 'How much output a sandbox may write.',
  WORKSPACE_MAX_BYTES: 'How much a working directory may hold.',
  WORKSPACE_MAX_INODES: 'How many files and folders a working directory may hold.',
  HOST_NAME: 'The name of this host in lists.',
  METRICS_TEMPORAL_PORT: 'The port of the metrics of Temporal’s client library.',
  TEMPORAL_UI_URL: 'Temporal’s web interface, for links.',
  WEBHOOK_CA_FILE: 'Further authorities for the certificates of webhook receivers.',
  RUN_RETENTION_DAYS: 'How long the log and the files of a run are kept after its end.',
  SESSION_FILE_RETENTION_DAYS: 'How long the files of a session are kept after its end.',
  WEBHOOK_ATTEMPT_RETENTION_DAYS: 'How long attempts to deliver webhooks are kept.',
  EGRESS_ALLOW_PRIVATE: 'Private addresses that sandboxes may reach.',
};

/** The page for people who run the service, in Markdown. */
export function makeSettings(): string {
  const tables = parts.map(
    ({ title, shape }) => `## ${title}

| variable | for | value | default |
|---|---|---|---|
${Object.entries(shape)
  .map(([name, schema]) => row(name as Name, schema))
  .join('\n')}
`,
  );
  return `# Settings

The settings are environment variables, read once at start; a wrong one is named and nothing starts. Instead of
\`NAME\`, \`NAME_FILE\` may name a file that holds the value, as secrets should. An empty variable is one that is not set.
This page is written by \`npm run describe\`.

${tables.join('\n')}
${furtherSettings}`;
}

const row = (name: Name, schema: z.ZodType): string =>
  `| \`${name}\` | ${purposes[name]} | ${expectedOf(schema)} | ${defaultOf(name, schema)} |`;

/** The words in which a wrong value is refused. */
function expectedOf(schema: z.ZodType): string {
  const parsed = bare(schema).safeParse(undefined);
  return escaped(parsed.error?.issues[0]?.message ?? '');
}

function bare(schema: z.ZodType): z.ZodType {
  const isWrapped = schema instanceof z.ZodDefault || schema instanceof z.ZodOptional;
  return isWrapped ? bare(schema.unwrap() as z.ZodType) : schema;
}

/** What differs from machine to machine, in words. */
const computed: Partial<Record<Name, string>> = {
  ANTHROPIC_API_KEY: '**required** without `OFFLINE_MODEL_URL`',
  CORS_ORIGINS: '`*`',
  PUBLIC_URL: '`http://API_HOST:API_PORT`',
  HOST_CAPACITY: 'one for every 2 GiB of memory after the first 2',
  HOST_NAME: 'the machine’s name',
};

function defaultOf(name: Name, schema: z.ZodType): string {
  const words = computed[name];
  if (words !== undefined) return words;
  if (schema instanceof z.ZodOptional) return 'none';
  if (!(schema instanceof z.ZodDefault)) return '**required**';
  const value: unknown = schema.def.defaultValue;
  if (Array.isArray(value)) return 'none';
  return `\`${String(value)}\`${inLargerUnits(name, Number(value))}`;
}

const units: [suffix: string, [number, string][]][] = [
  [
    '_MS',
    [
      [3_600_000, 'h'],
      [60_000, 'min'],
      [1_000, 's'],
    ],
  ],
  [
    '_BYTES',
    [
      [1024 ** 3, 'GiB'],
      [1024 ** 2, 'MiB'],
    ],
  ],
];

function inLargerUnits(name: string, value: number): string {
  const known = units.find(([suffix]) => name.endsWith(suffix))?.[1] ?? [];
  const unit = known.find(([size]) => value >= size && value % size === 0);
  return unit ? ` (${value / unit[0]} ${unit[1]})` : '';
}

const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('*', '\\*');
