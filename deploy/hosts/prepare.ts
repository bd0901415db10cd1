// What the entrances need before they open, made once. Called by make-secrets where other hosts may join.

import { ConfigError } from '../../config/config-error.ts';
import { readHostsConfig } from '../../config/hosts-config.ts';
import { pathsIn, publish } from './allowlist.ts';
import { ensureAuthority, ensureServerCertificate } from './certificates.ts';

const [secrets = '/secrets'] = process.argv.slice(2);

try {
  const { name } = readHostsConfig();
  const places = pathsIn(secrets);
  await ensureAuthority(places.authorityFolder);
  await ensureServerCertificate(places.serverFolder, { name, authority: places.authority });
  publish(places);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
