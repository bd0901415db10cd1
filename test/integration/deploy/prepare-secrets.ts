import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository } from '../../../dev/lib/folders.ts';
import { runCommand } from '../../../dev/lib/run-command.ts';

const program = join(repository, 'deploy/hosts/prepare.ts');

/** A folder with the secrets of a stack, prepared for hosts that connect to `localhost`. */
export async function prepareSecrets(password: string): Promise<string> {
  const secrets = mkdtempSync(join(tmpdir(), 'flowrun-entrances-'));
  chmodSync(secrets, 0o755);
  for (const folder of ['hosts', 'postgres', 'redis', 'entrance', 'service', 'joined']) {
    mkdirSync(join(secrets, folder));
  }
  for (const file of ['postgres/flowrun', 'postgres/superuser', 'redis/password']) {
    writeFileSync(join(secrets, file), `${password}\n`);
  }
  writeFileSync(join(secrets, 'service/encryption-key'), 'three\n');
  const env = { ...process.env, FLOWRUN_HOSTS_NAME: 'localhost' };
  await runCommand(process.execPath, [program, secrets], { env });
  return secrets;
}
