// Creates the certificates of the ingress. Called by make-secrets if other hosts may join.

import { ConfigError } from '../../config/config-error.ts';
import { readHostsConfig } from '../../config/hosts-config.ts';
import { pathsIn, publish } from './allowlist.ts';
import { ensureAuthority, ensureServerCertificate } from './certificates.ts';

const [secrets = '/secrets'] = process.argv.slice(2);

try {
  const { name } = readHostsConfig();
  const paths = pathsIn(secrets);
  await ensureAuthority(paths.authorityFolder);
  await ensureServerCertificate(paths.serverFolder, { name, authority: paths.authority });
  publish(paths);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
