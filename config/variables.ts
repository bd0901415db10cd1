import { Buffer } from 'node:buffer';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { isAbsolute } from 'node:path';
import { failpoints } from '../core/failpoint.ts';
import { limits } from '../core/limits.ts';
import { runtimeSettings } from '../core/sandbox/sandbox-runtime.ts';
import { expectedOfFiles } from './database-files.ts';
import { variable } from './environment.ts';
import { defaultCapacity } from './host-capacity.ts';
import { areCertificates, inPem, isPrivateKey } from './pem.ts';

/** What the API and the worker both read, beside Temporal's own set. */
export const serviceVariables = {
  DATABASE_URL: address('a postgres:// address', ['postgres:', 'postgresql:']).superRefine(
    (url, context) => {
      const message = expectedOfFiles(url);
      if (message !== null) context.addIssue({ code: 'custom', message });
    },
  ),
  REDIS_URL: address('a redis:// or rediss:// address', ['redis:', 'rediss:']),
  REDIS_TLS_CA: certificates().optional(),
  REDIS_TLS_CERT: certificates().optional(),
  REDIS_TLS_KEY: variable(inPem.key, (text) => (isPrivateKey(text) ? text : null)).optional(),
  ENCRYPTION_KEY: variable('32 bytes in base64', (text) => {
    const key = Buffer.from(text, 'base64');
    return key.length === 32 ? key : null;
  }),
  INSTANCE: matching('1 to 32 small letters, digits and dashes', /^[a-z0-9-]{1,32}$/).default(
    'flowrun',
  ),
  API_HOST: matching('a host name or address to listen on', /^[^\s/]+$/).default('127.0.0.1'),
  API_PORT: wholeNumber({ min: 0, max: 65_535 }).default(8080),
  PUBLIC_URL: variable(
    'an http:// or https:// address, without user, query and fragment',
    publicUrl,
  ).optional(),
  WEBHOOK_ALLOW_PRIVATE: list('networks like 10.0.0.0/8, separated by commas', isNetwork).default(
    [],
  ),
  LOG_LEVEL: variable(
    'fatal, error, warn, info, debug, trace or silent',
    (text) => logLevels.find((level) => level === text) ?? null,
  ).default('info'),
  METRICS_HOST: variable('an IP address to listen on', (text) =>
    isIP(text) === 0 ? null : text,
  ).default('127.0.0.1'),
  METRICS_PORT: wholeNumber({ min: 1, max: 65_535 }).optional(),
  RUN_TIMEOUT_MS: milliseconds(limits.runTimeoutMs),
  STALL_TIMEOUT_MS: milliseconds(limits.stallTimeoutMs),
  AFTER_RESULT_GRACE_MS: milliseconds(limits.afterResultGraceMs),
  NO_CAPACITY_TIMEOUT_MS: milliseconds(limits.noCapacityTimeoutMs),
  RECONCILE_EVERY_MS: milliseconds(limits.reconcileEveryMs),
  LEASE_MS: milliseconds(limits.leaseMs),
  HOST_LOST_MS: milliseconds(limits.hostLostMs),
  SESSION_IDLE_MS: milliseconds(limits.sessionIdleMs),
  SESSION_ATTENDED_IDLE_MS: milliseconds(limits.sessionAttendedIdleMs),
  SESSION_PAUSE_AFTER_MS: milliseconds(limits.sessionPauseAfterMs),
  SESSION_TURNS_PER_HISTORY: wholeNumber({ min: 1, max: limits.sessionTurnsPerHistory }).default(
    limits.sessionTurnsPerHistory,
  ),
  OFFLINE_MODEL_URL: address('an http:// or https:// address', ['http:', 'https:']).optional(),
  FAILPOINT: variable(
    'the name of a failpoint; for tests alone',
    (text) => failpoints.find((name) => name === text) ?? null,
  ).optional(),
};

/** Where clients reach the API, without a slash at its end. */
export function publicUrlOf(read: {
  PUBLIC_URL?: string | undefined;
  API_HOST: string;
  API_PORT: number;
}): string {
  return read.PUBLIC_URL ?? `http://${read.API_HOST}:${read.API_PORT}`;
}

/** What the API reads besides. */
export const apiVariables = {
  HAS_MODEL_KEY: variable('yes or no', (text) =>
    text === 'yes' || text === 'no' ? text : null,
  ).default('no'),
  CORS_ORIGINS: variable(
    '* or origins like https://app.example.com, separated by commas',
    (text) => (text.trim() === '*' ? ('any' as const) : itemsOf(text, isOrigin)),
  ).default('any'),
  TRUSTED_PROXIES: list(
    'addresses, networks like 10.0.0.0/8, or host names, separated by commas',
    (item) => isIP(item) !== 0 || isNetwork(item) || isHostName(item),
  ).default([]),
};

/** What the worker reads besides. */
export const workerVariables = {
  DATA_DIR: variable(
    `an absolute path of at most ${dataDirMaxBytes()} bytes, so that socket paths below it stay valid`,
    (text) => (isAbsolute(text) && Buffer.byteLength(text) <= dataDirMaxBytes() ? text : null),
  ),
  DATA_VOLUME: matching('the name of a volume', /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/).optional(),
  ANTHROPIC_API_KEY: matching('the key for the model API', /^[\x21-\x7e]+$/),
  ANTHROPIC_BASE_URL: address('an http:// or https:// address', ['http:', 'https:']).default(
    'https://api.anthropic.com',
  ),
  SANDBOX_IMAGE: matching('the name of the sandbox image', /^\S+$/),
  DOCKER_HOST: address('a unix:// or tcp:// address', ['unix:', 'tcp:', 'http:', 'https:']).default(
    'unix:///var/run/docker.sock',
  ),
  SANDBOX_RUNTIME: variable(
    'auto, runc or runsc',
    (text) => runtimeSettings.find((setting) => setting === text) ?? null,
  ).default('auto'),
  HOST_CAPACITY: wholeNumber({ min: 0, max: 10_000 }).default(defaultCapacity),
  SPOOL_MAX_BYTES: wholeNumber({ min: 1, max: limits.spoolMaxBytes }).default(limits.spoolMaxBytes),
  WORKSPACE_MAX_BYTES: wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER }).default(
    limits.workspaceMaxBytes,
  ),
  WORKSPACE_MAX_INODES: wholeNumber({ min: 1, max: Number.MAX_SAFE_INTEGER }).default(
    limits.workspaceMaxInodes,
  ),
  HOST_NAME: matching('a name of at most 200 characters', /^.{1,200}$/).default(hostname),
  METRICS_TEMPORAL_PORT: wholeNumber({ min: 1, max: 65_535 }).optional(),
  TEMPORAL_UI_URL: address('an http:// or https:// address', ['http:', 'https:']).optional(),
  WEBHOOK_CA_FILE: variable('an absolute path', (text) =>
    isAbsolute(text) ? text : null,
  ).optional(),
  RUN_RETENTION_DAYS: days(limits.runRetentionDays),
  SESSION_FILE_RETENTION_DAYS: days(limits.sessionFileRetentionDays),
  WEBHOOK_ATTEMPT_RETENTION_DAYS: days(limits.webhookAttemptRetentionDays),
  EGRESS_ALLOW_PRIVATE: list('host:port pairs, separated by commas', isHostAndPort).default([]),
};

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A run's socket is `<data>/s/<12 hex digits>/x`; Node cuts longer paths without a word. */
function dataDirMaxBytes(): number {
  return limits.socketPathMaxBytes - '/s/0123456789ab/x'.length;
}

/** An address without its trailing slash. */
function address(expected: string, protocols: string[]) {
  return variable(expected, (text) => {
    const known = URL.canParse(text) && protocols.includes(new URL(text).protocol);
    return known ? text.replace(/\/$/, '') : null;
  });
}

/** Its path, if it has one, is taken away by whoever stands in front of the API. */
function publicUrl(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, origin, pathname, username, password } = new URL(text);
  const isPlain = username === '' && password === '' && !/[?#]/.test(text);
  if (!isPlain || !['http:', 'https:'].includes(protocol)) return null;
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

function certificates() {
  return variable(inPem.certificates, (text) => (areCertificates(text) ? text : null));
}

function matching(expected: string, pattern: RegExp) {
  return variable(expected, (text) => (pattern.test(text) ? text : null));
}

function wholeNumber({ min, max }: { min: number; max: number }) {
  return variable(`a whole number from ${min} to ${max}`, (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
    return value >= min && value <= max ? value : null;
  });
}

function milliseconds(standard: number) {
  return wholeNumber({ min: 1, max: 365 * 24 * 3_600_000 }).default(standard);
}

function days(standard: number) {
  return wholeNumber({ min: 1, max: 36_500 }).default(standard);
}

function list(expected: string, isItem: (item: string) => boolean) {
  return variable(expected, (text) => itemsOf(text, isItem));
}

function itemsOf(text: string, isItem: (item: string) => boolean): string[] | null {
  const items = text.split(',').map((item) => item.trim());
  return items.every(isItem) ? items : null;
}

function isNetwork(item: string): boolean {
  const [ip = '', bits = '', ...rest] = item.split('/');
  const version = isIP(ip);
  const maxBits = version === 4 ? 32 : 128;
  return version !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= maxBits && rest.length === 0;
}

/** One that could not be meant as an address. */
function isHostName(item: string): boolean {
  return /^([a-z0-9_-]+\.)*[a-z][a-z0-9_-]*$/i.test(item);
}

/** As a browser writes it: in small letters, without a path, without the usual port. */
function isOrigin(item: string): boolean {
  return /^https?:/.test(item) && URL.canParse(item) && new URL(item).origin === item;
}

function isHostAndPort(item: string): boolean {
  const port = Number(/^(?:\[[0-9a-f:.]+\]|[^\s:[\]]+):(\d{1,5})$/i.exec(item)?.[1]);
  return port >= 1 && port <= 65_535;
}
