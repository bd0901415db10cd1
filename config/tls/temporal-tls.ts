// Validates the TLS settings at start. Temporal's library does not: it ignores a certificate
// without a key and accepts an authority that is not PEM, and both then look like an unreachable
// server.

import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import type { ClientConfigProfile } from '@temporalio/envconfig';
import { areCertificates, inPem, isPrivateKey, pairError } from './pem.ts';

type TemporalTls = ClientConfigProfile['tls'];
type Source = NonNullable<TemporalTls>['clientKey'];
type Variables = Readonly<Record<string, string>>;

/** Why a setting is invalid, in terms of its variable; null if all are valid. */
export function temporalTlsError(tls: TemporalTls, env: Variables): string | null {
  if (tls === undefined || tls.disabled === true) return null;
  const names = {
    ca: nameOf('SERVER_CA_CERT', env),
    cert: nameOf('CLIENT_CERT', env),
    key: nameOf('CLIENT_KEY', env),
  };
  const sources = { ca: tls.serverCACert, cert: tls.clientCert, key: tls.clientKey };
  const unreadable = (['ca', 'cert', 'key'] as const).find((part) => isUnreadable(sources[part]));
  if (unreadable !== undefined)
    return `${names[unreadable]} names a file that cannot be read: ${pathOf(sources[unreadable])}`;
  const [ca, cert, key] = [textOf(sources.ca), textOf(sources.cert), textOf(sources.key)];
  if (ca !== null && !areCertificates(ca))
    return `${names.ca} is wrong: expected ${inPem.certificates}`;
  if (cert !== null && !areCertificates(cert))
    return `${names.cert} is wrong: expected ${inPem.certificates}`;
  if (key !== null && !isPrivateKey(key)) return `${names.key} is wrong: expected ${inPem.key}`;
  return pairError({ cert, key }, names);
}

/** The variable that is set. If neither is, the value comes from Temporal's configuration file. */
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
