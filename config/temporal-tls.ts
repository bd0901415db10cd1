// Temporal's library takes what it is given as it is: of a certificate without its key it shows none,
// and what is no PEM it trusts as an authority that nobody belongs to. Both look like a server that is
// away, so they are told at the start.

import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import type { ClientConfigProfile } from '@temporalio/envconfig';
import { areCertificates, expectedOfPair, inPem, isPrivateKey } from './pem.ts';

type TemporalTls = ClientConfigProfile['tls'];
type Source = NonNullable<TemporalTls>['clientKey'];
type Variables = Readonly<Record<string, string>>;

/** What is wrong, by the name of its setting; null where nothing is. */
export function expectedOfTemporalTls(tls: TemporalTls, env: Variables): string | null {
  if (tls === undefined || tls.disabled === true) return null;
  const named = {
    ca: nameOf('SERVER_CA_CERT', env),
    cert: nameOf('CLIENT_CERT', env),
    key: nameOf('CLIENT_KEY', env),
  };
  const sources = { ca: tls.serverCACert, cert: tls.clientCert, key: tls.clientKey };
  const unreadable = (['ca', 'cert', 'key'] as const).find((part) => isUnreadable(sources[part]));
  if (unreadable !== undefined)
    return `${named[unreadable]} names a file that cannot be read: ${pathOf(sources[unreadable])}`;
  const [ca, cert, key] = [textOf(sources.ca), textOf(sources.cert), textOf(sources.key)];
  if (ca !== null && !areCertificates(ca))
    return `${named.ca} is wrong: expected ${inPem.certificates}`;
  if (cert !== null && !areCertificates(cert))
    return `${named.cert} is wrong: expected ${inPem.certificates}`;
  if (key !== null && !isPrivateKey(key)) return `${named.key} is wrong: expected ${inPem.key}`;
  return expectedOfPair({ cert, key }, named);
}

/** The one of the two that is set; where neither is, its configuration file may say it. */
function nameOf(what: string, env: Variables): string {
  const data = `TEMPORAL_TLS_${what}_DATA`;
  return env[data] === undefined ? `TEMPORAL_TLS_${what}_PATH` : data;
}

const pathOf = (source: Source): string =>
  source !== undefined && 'path' in source ? source.path : '';

function isUnreadable(source: Source): boolean {
  try {
    textOf(source);
    return false;
  } catch {
    return true;
  }
}

function textOf(source: Source): string | null {
  if (source === undefined) return null;
  if ('path' in source) return readFileSync(source.path, 'utf8');
  return typeof source.data === 'string' ? source.data : Buffer.from(source.data).toString();
}
