import type { IncomingHttpHeaders } from 'node:http';
import { hasAtMost } from '../../core/field-rules.ts';
import { limits } from '../../core/limits.ts';
import { invalid } from '../errors.ts';

const prefix = 'x-ctx-';

/**
 * The values of the `X-Ctx-*` headers by the name after the prefix. Node converts names to lower
 * case.
 */
export function parseContextHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const sent = Object.entries(headers).filter(([name]) => name.startsWith(prefix));
  if (sent.length > limits.context.headersMax) {
    throw invalid(`headers.X-Ctx-*: must be at most ${limits.context.headersMax} headers`);
  }
  const context = sent.map(([header, value]): [string, string] => {
    const name = header.slice(prefix.length);
    if (!/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(name)) {
      throw rejected(header, 'the name must have letters and digits, separated by dashes');
    }
    if (name.length > limits.context.nameMaxChars) {
      throw rejected(
        header,
        `the name must have at most ${limits.context.nameMaxChars} characters`,
      );
    }
    return [name, valueOf(header, String(value))];
  });
  return Object.fromEntries(context);
}

/** Node decodes header bytes as Latin-1; they are UTF-8. */
function valueOf(header: string, raw: string): string {
  const value = decoded(raw);
  if (value === null) throw rejected(header, 'must be UTF-8');
  if (hasAtMost(limits.context.valueMaxChars, value)) return value;
  throw rejected(header, `must be at most ${limits.context.valueMaxChars} characters`);
}

function decoded(raw: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(raw, 'latin1'));
  } catch {
    return null;
  }
}

const rejected = (header: string, why: string) => invalid(`headers.${header}: ${why}`);
