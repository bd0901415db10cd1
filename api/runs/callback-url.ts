import { isIP } from 'node:net';
import { invalid } from '../errors.ts';

/**
 * What can be said of a callback's address before it is called. Where its name leads is judged
 * again at every attempt, since names move.
 */
export function checkCallbackUrl(
  text: string,
  isCallbackAddressAllowed: (address: string) => boolean,
): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.protocol !== 'https:') throw refused('must be an https address');
  if (url.username !== '' || url.password !== '') throw refused('must not hold credentials');
  const port = url.port === '' ? 443 : Number(url.port);
  if (port !== 443 && port < 1024) throw refused('must use port 443, or 1024 and above');
  const address = addressOf(url.hostname);
  if (address !== null && !isCallbackAddressAllowed(address))
    throw refused('must lead to a public address');
}

/** Null for a name that only a resolver knows. */
function addressOf(hostname: string): string | null {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return host;
  return /(^|\.)localhost\.?$/.test(host) ? '127.0.0.1' : null;
}

const refused = (why: string) => invalid(`body.callbackUrl: ${why}`);
