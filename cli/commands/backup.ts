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
    .description('writes the database and the encryption key into one file; the service may run')
    .argument('<file>', 'where to; it must not be there yet')
    .option(
      '--passphrase-file <path>',
      'what the key is sealed with, from a file; - is standard input',
      passphraseIn,
    )
    .option('--without-key', 'leaves the key out: keep it elsewhere')
    .option('--json', 'print JSON')
    .action(async (file: string, { passphraseFile, withoutKey, json }: BackupOptions) => {
      if ((passphraseFile === undefined) === (withoutKey === undefined))
        throw new UsageError('Say how the key is kept: --passphrase-file, or --without-key.');
      const made = await (await backups()).backUp(file, passphraseFile ?? null);
      printRecord(made, json ? { json } : {});
      note(made.hasKey ? sealedNote : leftOutNote);
    });
}

const sealedNote =
  'Prompts, output and files in it are in plain text: keep it as safe as the database. ' +
  'Without the passphrase its secrets are lost.';

const leftOutNote =
  'WARNING: the encryption key is not in this backup. Without ENCRYPTION_KEY, kept elsewhere, ' +
  'every secret in it is lost. Prompts, output and files are in plain text.';
