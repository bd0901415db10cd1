import type { IncomingHttpHeaders } from 'node:http';
import { hasAtMost } from '../../core/field-rules.ts';
import { limits } from '../../core/limits.ts';
import { invalid } from '../errors.ts';

const prefix = 'x-ctx-';

/**
 * What the `X-Ctx-*` headers say, by the part of the name after the prefix. Names come in small
 * letters, whatever was sent.
 */
export function parseContextHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const given = Object.entries(headers).filter(([name]) => name.startsWith(prefix));
  if (given.length > limits.contextHeadersMax) {
    throw invalid(`headers.X-Ctx-*: must be at most ${limits.contextHeadersMax}`);
  }
  const context = given.map(([header, value]): [string, string] => {
    const name = header.slice(prefix.length);
    if (!/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(name)) {
      throw refused(header, 'must be named by letters and digits with dashes between them');
    }
    if (name.length > limits.contextNameMaxChars) {
      throw refused(header, `must be named by at most ${limits.contextNameMaxChars} characters`);
    }
    return [name, valueOf(header, String(value))];
  });
  return Object.fromEntries(context);
}

/** A header's bytes arrive one by one; together they are UTF-8. */
function valueOf(header: string, raw: string): string {
  const value = decoded(raw);
  if (value === null) throw refused(header, 'must be UTF-8');
  if (hasAtMost(limits.contextValueMaxChars, value)) return value;
  throw refused(header, `must be at most ${limits.contextValueMaxChars} characters`);
}

function decoded(raw: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(raw, 'latin1'));
  } catch {
    return null;
  }
}

const refused = (header: string, why: string) => invalid(`headers.${header}: ${why}`);
