import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { openBackup, writeBackup } from '../../../cli/backup/backup-file.ts';
import { CliError } from '../../../cli/format-error.ts';

const dump = Buffer.from('what pg_dump said');
const head = { dumpedAt: new Date(0), schema: '001_first', keyId: 'a'.repeat(32), key: null };

async function written(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'flowrun-backup-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'a.backup');
  await writeBackup(path, head, async (into: Writable) => {
    await new Promise<void>((resolve) => into.end(dump, resolve));
  });
  return path;
}

test('a backup is restored exactly as it was written', async () => {
  const opened = await openBackup(await written());
  expect(opened.head).toEqual(head);
  expect(await buffer(opened.dump())).toEqual(dump);
});

test('a change of any byte is reported as a damaged or foreign backup', async () => {
  const path = await written();
  const bytes = readFileSync(path);
  for (const at of bytes.keys()) {
    const changed = Buffer.from(bytes);
    changed[at] = (bytes[at] ?? 0) ^ 0x02;
    writeFileSync(path, changed);
    const error: unknown = await openBackup(path).catch((thrown: unknown) => thrown);
    expect(error, `byte ${at}`).toBeInstanceOf(CliError);
    expect(String(error)).toMatch(/is damaged: its checksum does not match|is not a backup/);
  }
});
