import { Command } from 'commander';
import type { CliDeps } from '../deps.ts';
import { UsageError } from '../format-error.ts';
import { passphraseIn } from '../parse-options.ts';
import { note, printRecord } from '../print.ts';

interface BackupOptions {
  passphraseFile?: string;
  withoutKey?: true;
  json?: true;
}

export function backupCommand({ backups }: CliDeps): Command {
  return new Command('backup')
    .description(
      'write the database and the encryption key to one file; the service may be running',
    )
    .argument('<file>', 'path of the backup; must not exist yet')
    .option(
      '--passphrase-file <path>',
      'file with the passphrase that encrypts the key; - is standard input',
      passphraseIn,
    )
    .option('--without-key', 'omit the key; store it elsewhere')
    .option('--json', 'print JSON')
    .action(async (file: string, { passphraseFile, withoutKey, json }: BackupOptions) => {
      if ((passphraseFile === undefined) === (withoutKey === undefined))
        throw new UsageError('Pass either --passphrase-file or --without-key.');
      const result = await (await backups()).backUp(file, passphraseFile ?? null);
      printRecord(result, json ? { json } : {});
      note(result.hasKey ? sealedNote : withoutKeyNote);
    });
}

const sealedNote =
  'Prompts, output and files in it are not encrypted: protect it like the database. ' +
  'Without the passphrase its secrets are lost.';

const withoutKeyNote =
  'WARNING: the encryption key is not in this backup. Without a copy of ENCRYPTION_KEY, ' +
  'its secrets are lost. Prompts, output and files are not encrypted.';
