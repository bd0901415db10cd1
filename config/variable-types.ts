// Reusable kinds of settings, and the rules they apply.

import { isIP } from 'node:net';
import { hasAtMost } from '../core/field-rules.ts';
import { limits } from '../core/limits.ts';
import { variable } from './environment.ts';
import { areCertificates, inPem } from './tls/pem.ts';

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A run's socket is `<data>/s/<12 hex digits>/x`; Node silently truncates longer paths. */
export function dataDirMaxBytes(): number {
  return limits.sandbox.socketPathMaxBytes - '/s/0123456789ab/x'.length;
}

/** A URL; its trailing slash is removed. */
export function address(expected: string, protocols: string[]) {
  return variable(expected, (text) => {
    const known = URL.canParse(text) && protocols.includes(new URL(text).protocol);
    return known ? text.replace(/\/$/, '') : null;
  });
}

/** A path is allowed: the reverse proxy strips it. */
export function publicUrl(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, origin, pathname, username, password } = new URL(text);
  const isPlain = username === '' && password === '' && !/[?#]/.test(text);
  if (!isPlain || !['http:', 'https:'].includes(protocol)) return null;
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

export function certificates() {
  return variable(inPem.certificates, (text) => (areCertificates(text) ? text : null));
}

export function shortText(maxChars: number) {
  return variable(`1 to ${maxChars} characters`, (value) =>
    hasAtMost(maxChars, value) ? value : null,
  );
}

export function yesOrNo() {
  return variable('yes or no', (text) => (text === 'yes' || text === 'no' ? text : null));
}

export function matching(expected: string, pattern: RegExp) {
  return variable(expected, (text) => (pattern.test(text) ? text : null));
}

export function wholeNumber({ min, max }: { min: number; max: number }) {
  return variable(`a whole number from ${min} to ${max}`, (text) => {
    // Safe integers have up to 16 digits.
    const value = /^\d{1,16}$/.test(text) ? Number(text) : -1;
    return value >= min && value <= max ? value : null;
  });
}

const fewestConnections = 4;

/** The connections of one process. The reserved ones are not for its ordinary work. */
export function postgresConnections(reserved: number) {
  const numbers = wholeNumber({ min: reserved + fewestConnections, max: 1_000 });
  return numbers.default(limits.postgres.connections);
}

export function milliseconds(standard: number) {
  return wholeNumber({ min: 1, max: 365 * 24 * 3_600_000 }).default(standard);
}

export function days(standard: number) {
  return wholeNumber({ min: 1, max: 36_500 }).default(standard);
}

export function list(expected: string, isItem: (item: string) => boolean) {
  return variable(expected, (text) => itemsOf(text, isItem));
}

export function itemsOf(text: string, isItem: (item: string) => boolean): string[] | null {
  const items = text.split(',').map((item) => item.trim());
  return items.every(isItem) ? items : null;
}

export function isNetwork(item: string): boolean {
  const [ip = '', bits = '', ...rest] = item.split('/');
  const version = isIP(ip);
  const maxBits = version === 4 ? 32 : 128;
  return version !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= maxBits && rest.length === 0;
}

/** The last label of a name starts with a letter, so a mistyped address is rejected. */
export function isHostName(item: string): boolean {
  return /^([a-z0-9_-]+\.)*[a-z][a-z0-9_-]*$/i.test(item);
}

/** An origin as browsers send it: lower case, no path, no default port. */
export function isOrigin(item: string): boolean {
  return /^https?:/.test(item) && URL.canParse(item) && new URL(item).origin === item;
}

export function isHostAndPort(item: string): boolean {
  const port = Number(/^(?:\[[0-9a-f:.]+\]|[^\s:[\]]+):(\d{1,5})$/i.exec(item)?.[1]);
  return port >= 1 && port <= 65_535;
}

/** The URL of the API, without a trailing slash. */
export function publicUrlOf(read: {
  PUBLIC_URL?: string | undefined;
  API_HOST: string;
  API_PORT: number;
}): string {
  return read.PUBLIC_URL ?? `http://${read.API_HOST}:${read.API_PORT}`;
}
