import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TestAuthority {
  /** What is to be trusted. */
  ca: string;
  cert: string;
  key: string;
}

/** A certificate authority of a test's own, and a certificate for one address under it. */
export function makeAuthority(address: string): TestAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'));
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const openssl = (...args: string[]) =>
    execFileSync('openssl', ['req', '-x509', ...newKey, ...args], { cwd: folder, stdio: 'pipe' });
  try {
    openssl('-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=test authority');
    openssl(
      ...['-CA', 'ca.crt', '-CAkey', 'ca.key', '-keyout', 'key', '-out', 'cert'],
      ...['-subj', '/CN=test server', '-addext', `subjectAltName=IP:${address}`],
      ...['-addext', 'basicConstraints=critical,CA:FALSE'],
    );
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    return { ca: read('ca.crt'), cert: read('cert'), key: read('key') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
