import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../lib/folders.ts';
import { runCommand } from '../../lib/run-command.ts';

/**
 * Copies what a clone of this tree would contain, and the CA of a network that inspects TLS, if
 * any.
 */
export async function makeFreshClone(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const files = (await runCommand('git', list, { cwd: repository })).split('\0');
  for (const file of files.filter(Boolean)) {
    const from = join(repository, file);
    if (existsSync(from)) cpSync(from, join(folder, file));
  }
  const authority = process.env.NODE_EXTRA_CA_CERTS ?? process.env.SSL_CERT_FILE;
  if (authority !== undefined && existsSync(authority)) {
    cpSync(authority, join(folder, 'extra-ca.crt'), { dereference: true });
  }
  return folder;
}
