import { Buffer } from 'node:buffer';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { isAbsolute } from 'node:path';
import { failpoints } from '../core/failpoint.ts';
import { limits } from '../core/limits.ts';
import { runtimeSettings } from '../core/sandbox/sandbox-runtime.ts';
import { databaseFilesError } from './database-files.ts';
import { variable } from './environment.ts';
import { hostResourceVariables } from './host-resources.ts';
import { modelPrices } from './model-price-setting.ts';
import { inPem, isPrivateKey } from './tls/pem.ts';
import {
  address,
  certificates,
  dataDirMaxBytes,
  days,
  isHostAndPort,
  isNetwork,
  list,
  logLevels,
  matching,
  milliseconds,
  postgresConnections,
  publicUrl,
  wholeNumber,
  yesOrNo,
} from './variable-types.ts';

/** Settings of the API and the worker. Temporal's own variables are read by its library. */
export const serviceVariables = {
  DATABASE_URL: address('a postgres:// address', ['postgres:', 'postgresql:'])
    .superRefine((url, context) => {
      const message = databaseFilesError(url);
      if (message !== null) context.addIssue({ code: 'custom', message });
    })
    .describe(
      'Postgres, the source of truth: a direct connection, or [PgBouncer in session mode](operate.md#pgbouncer). For TLS use `?sslmode=verify-full`, with `sslrootcert`, `sslcert` and `sslkey` as file names.',
    ),
  REDIS_URL: address('a redis:// or rediss:// address', ['redis:', 'rediss:']).describe(
    'Redis: live frames, rate limits and presence. Losing its data loses no run.',
  ),
  REDIS_TLS_CA: certificates()
    .optional()
    .describe(
      'With a rediss:// address: the authority that signed its certificate, if not a public one.',
    ),
  REDIS_TLS_CERT: certificates()
    .optional()
    .describe('The client certificate, if Redis requires one.'),
  REDIS_TLS_KEY: variable(inPem.key, (text) => (isPrivateKey(text) ? text : null))
    .optional()
    .describe('The key of `REDIS_TLS_CERT`.'),
  ENCRYPTION_KEY: variable('32 bytes in base64', (text) => {
    const key = Buffer.from(text, 'base64');
    return key.length === 32 ? key : null;
  }).describe(
    'Encrypts configurations and secrets in Postgres. Keep a copy: without it they cannot be decrypted.',
  ),
  INSTANCE: matching('1 to 32 small letters, digits and dashes', /^[a-z0-9-]{1,32}$/)
    .default('flowrun')
    .describe('Distinguishes this service from others on the same Redis, Temporal or Docker.'),
  API_HOST: matching('a host name or address to listen on', /^[^\s/]+$/)
    .default('127.0.0.1')
    .describe('The address the API listens on.'),
  API_PORT: wholeNumber({ min: 0, max: 65_535 })
    .default(8080)
    .describe('The port the API listens on.'),
  PUBLIC_URL: variable(
    'an http:// or https:// address, without user, query and fragment',
    publicUrl,
  )
    .optional()
    .describe(
      'The URL of the API for clients and operators. It may have a path, which the reverse proxy must strip.',
    ),
  WEBHOOK_ALLOW_PRIVATE: list('networks like 10.0.0.0/8, separated by commas', isNetwork)
    .default([])
    .describe('Private networks that webhooks may be sent to.'),
  LOG_LEVEL: variable(
    'fatal, error, warn, info, debug, trace or silent',
    (text) => logLevels.find((level) => level === text) ?? null,
  )
    .default('info')
    .describe('The lowest level that is logged.'),
  METRICS_HOST: variable('an IP address to listen on', (text) => (isIP(text) === 0 ? null : text))
    .default('127.0.0.1')
    .describe('The address the metrics endpoint listens on. It has no authentication.'),
  METRICS_PORT: wholeNumber({ min: 1, max: 65_535 })
    .optional()
    .describe(
      'The port of this process’s metrics. Each process needs its own; in the local stack the worker uses the next port.',
    ),
  RUN_TIMEOUT_MS: milliseconds(limits.run.timeoutMs).describe(
    'The maximum duration of a run, or of one turn of a session.',
  ),
  STALL_TIMEOUT_MS: milliseconds(limits.run.stallTimeoutMs).describe(
    'How long a working agent may produce no output.',
  ),
  AFTER_RESULT_GRACE_MS: milliseconds(limits.run.afterResultGraceMs).describe(
    'How long an agent may keep running after its result.',
  ),
  NO_CAPACITY_TIMEOUT_MS: milliseconds(limits.run.noCapacityTimeoutMs).describe(
    'How long an admitted run waits for a slot.',
  ),
  SNAPSHOT_TIMEOUT_MS: milliseconds(limits.snapshot.timeoutMs).describe(
    'How long the end of a run waits at most until its files are stored. Files that are not stored by then are stored after the end.',
  ),
  RECONCILE_EVERY_MS: milliseconds(limits.reconciler.everyMs).describe(
    'How often Postgres, Temporal and Docker are compared.',
  ),
  LEASE_MS: milliseconds(limits.log.leaseMs).describe(
    'How long a worker’s lease on a sandbox’s log lasts without renewal.',
  ),
  HOST_LOST_MS: milliseconds(limits.host.lostMs).describe(
    'How long a host may miss its heartbeat before other hosts take over its work. The other host times are fractions of it.',
  ),
  SESSION_IDLE_MS: milliseconds(limits.session.idleMs).describe(
    'How long an idle session keeps its sandbox while no client reads its stream and its agent has no background work.',
  ),
  SESSION_ATTENDED_IDLE_MS: milliseconds(limits.session.attendedIdleMs).describe(
    'The same while a client reads its stream or its agent has background work.',
  ),
  SESSION_PAUSE_AFTER_MS: milliseconds(limits.session.pauseAfterMs).describe(
    'How long an idle agent keeps running before it is paused.',
  ),
  SESSION_TURNS_PER_HISTORY: wholeNumber({ min: 1, max: limits.session.turnsPerHistory })
    .default(limits.session.turnsPerHistory)
    .describe('After how many turns a session’s workflow continues as new.'),
  OFFLINE_MODEL_URL: address('an http:// or https:// address', ['http:', 'https:'])
    .optional()
    .describe(
      'The URL of the offline model, which answers with made-up text. `OFFLINE_MODEL` decides when.',
    ),
  OFFLINE_MODEL: yesOrNo()
    .optional()
    .describe(
      'Whether a host without `ANTHROPIC_API_KEY` uses the offline model: `yes`, while no other host has a key; `no`, never; not set, until a host with a key has started. [Details](operators.md#the-offline-model).',
    ),
  MODEL_PRICES: modelPrices
    .default({})
    .describe(
      'Prices that replace list prices or add models, in dollars per million tokens ([details](operators.md#prices)). Set the same value for the API and every worker.',
    ),
  FAILPOINT: variable(
    'the name of a failpoint; for tests alone',
    (text) => failpoints.find((name) => name === text) ?? null,
  )
    .optional()
    .describe('Where the process kills itself, for tests.'),
};

/** Settings of the worker alone. */
export const workerVariables = {
  WORKER_POSTGRES_CONNECTIONS: postgresConnections(limits.postgres.reservedByWorker).describe(
    `How many connections to Postgres the worker opens at most, ${limits.postgres.reservedByWorker} of them for its heartbeat and its leases. Uploads of large files use at most half of the others, and those of files up to 1 MiB a quarter.`,
  ),
  DATA_DIR: variable(
    `an absolute path of at most ${dataDirMaxBytes()} bytes, so that socket paths below it stay valid`,
    (text) => (isAbsolute(text) && Buffer.byteLength(text) <= dataDirMaxBytes() ? text : null),
  ).describe(
    'The directory of this host: sockets, spools, working directories. Exactly one worker may use it.',
  ),
  DATA_VOLUME: matching('the name of a volume', /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/)
    .optional()
    .describe('The Docker volume mounted at `DATA_DIR`, if the worker itself runs in a container.'),
  ANTHROPIC_API_KEY: matching('the key for the model API', /^[\x21-\x7e]+$/)
    .optional()
    .describe('The key for the model API. It never enters a sandbox.'),
  ANTHROPIC_BASE_URL: address('an http:// or https:// address', ['http:', 'https:'])
    .default('https://api.anthropic.com')
    .describe('The URL of the model API.'),
  SANDBOX_IMAGE: matching('the name of the sandbox image', /^\S+$/).describe(
    'The image of the sandboxes.',
  ),
  DOCKER_HOST: address('a unix:// or tcp:// address', ['unix:', 'tcp:', 'http:', 'https:'])
    .default('unix:///var/run/docker.sock')
    .describe('The Docker Engine that runs the sandboxes.'),
  SANDBOX_RUNTIME: variable(
    'auto, runc or runsc',
    (text) => runtimeSettings.find((setting) => setting === text) ?? null,
  )
    .default('auto')
    .describe(
      'The container runtime of the sandboxes: `runsc` is gVisor; `auto` is gVisor if the engine has it when the worker starts, otherwise `runc`. With a runtime that does not work, no sandbox starts.',
    ),
  ...hostResourceVariables,
  HOST_NAME: matching('a name of at most 200 characters', /^.{1,200}$/)
    .default(hostname)
    .describe('The name of this host in lists.'),
  METRICS_TEMPORAL_PORT: wholeNumber({ min: 1, max: 65_535 })
    .optional()
    .describe('The port of the metrics of Temporal’s client library.'),
  WEBHOOK_CA_FILE: variable('an absolute path', (text) => (isAbsolute(text) ? text : null))
    .optional()
    .describe('Additional authorities for the certificates of webhook receivers.'),
  RUN_RETENTION_DAYS: days(limits.retention.runDays).describe(
    'How long the log and the files of a run are retained after its end.',
  ),
  SESSION_FILE_RETENTION_DAYS: days(limits.retention.sessionFileDays).describe(
    'How long the files of a session are retained after its end.',
  ),
  WEBHOOK_ATTEMPT_RETENTION_DAYS: days(limits.retention.webhookAttemptDays).describe(
    'How long webhook delivery attempts are retained.',
  ),
  API_URL: variable('an http:// or https:// address, without user, query and fragment', publicUrl)
    .optional()
    .describe(
      'The URL at which this host reaches the API, for [agents that start runs](mcp.md#agents-that-start-runs). Default: `PUBLIC_URL`.',
    ),
  EGRESS_ALLOW_PRIVATE: list('host:port pairs, separated by commas', isHostAndPort)
    .default([])
    .describe('Private addresses that sandboxes may reach.'),
};
