import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certified {
  cert: string;
  key: string;
}

export interface TestAuthority extends Certified {
  /** The certificate that clients trust. */
  ca: string;
  /** Issues another certificate. */
  issue(options: AuthorityOptions): Certified;
}

interface AuthorityOptions {
  /** Such as `IP:127.0.0.1` and `DNS:localhost`. */
  names: string[];
  expired?: true;
}

/** Creates a certificate authority for tests, and a certificate for one address. */
export function makeAuthority(address: string): TestAuthority {
  return inFolder((folder) => {
    const self = ['-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=test authority'];
    openssl(folder, 'req', '-x509', ...newKey, '-days', '2', ...self);
    const [ca, caKey] = [read(folder, 'ca.crt'), read(folder, 'ca.key')];
    const issue = (options: AuthorityOptions): Certified => sign({ ca, caKey }, options);
    return { ca, issue, ...issue({ names: [`IP:${address}`] }) };
  });
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

function sign(
  { ca, caKey }: { ca: string; caKey: string },
  { names, expired }: AuthorityOptions,
): Certified {
  return inFolder((folder) => {
    writeFileSync(join(folder, 'ca.crt'), ca);
    writeFileSync(join(folder, 'ca.key'), caKey);
    const extensions = [`subjectAltName=${names.join(',')}`, 'basicConstraints=critical,CA:FALSE'];
    writeFileSync(join(folder, 'extensions'), `${extensions.join('\n')}\n`);
    openssl(folder, 'req', ...newKey, '-keyout', 'key', '-out', 'csr', '-subj', '/CN=test');
    const by = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'];
    const days = ['-days', expired ? '0' : '2', '-extfile', 'extensions'];
    openssl(folder, 'x509', '-req', '-in', 'csr', '-out', 'cert', ...by, ...days);
    // A certificate with a lifetime of zero days expires after the second of its creation.
    if (expired) execFileSync('sleep', ['1.1']);
    return { cert: read(folder, 'cert'), key: read(folder, 'key') };
  });
}

const openssl = (cwd: string, ...args: string[]) =>
  execFileSync('openssl', args, { cwd, stdio: 'pipe' });

const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');

function inFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
