import { isIP } from 'node:net';
import { callbackUrlError } from '../../core/callback-url.ts';
import { invalid } from '../errors.ts';

/** Rejects a callback URL that delivery would always block. */
export function checkCallbackUrl(
  text: string,
  isAddressAllowed: (address: string) => boolean,
): void {
  checkUrl('body.callbackUrl', text, isAddressAllowed);
}

/**
 * The same for another field. A host name is resolved and checked at every delivery attempt.
 */
export function checkUrl(
  field: string,
  text: string,
  isAddressAllowed: (address: string) => boolean,
): void {
  const rejected = (error: string) => invalid(`${field}: ${error}`);
  const url = URL.canParse(text) ? new URL(text) : null;
  const error = url === null ? 'must be an https URL' : callbackUrlError(url);
  if (error !== null) throw rejected(error);
  const address = url === null ? null : literalAddress(url.hostname);
  if (address !== null && !isAddressAllowed(address)) throw rejected('must have a public address');
}

/** Null for a host name that has to be resolved. */
function literalAddress(hostname: string): string | null {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return host;
  return /(^|\.)localhost\.?$/.test(host) ? '127.0.0.1' : null;
}
