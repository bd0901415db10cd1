import { Command } from 'commander';
import type { CliDeps } from '../deps.ts';
import { UsageError } from '../format-error.ts';
import { passphraseIn } from '../parse-options.ts';
import { note, printRecord } from '../print.ts';

interface RestoreOptions {
  replace?: true;
  keyTo?: string;
  passphraseFile?: string;
  json?: true;
}

export function restoreCommand({ backups }: CliDeps): Command {
  return new Command('restore')
    .description('fills the database from a backup, or takes the key out of it')
    .argument('<file>', 'the backup')
    .option('--replace', 'even where the database is not empty: what is in it is lost')
    .option('--key-to <path>', 'only writes the backup’s encryption key into this file')
    .option(
      '--passphrase-file <path>',
      'what the key is sealed with, from a file; - is standard input',
      passphraseIn,
    )
    .option('--json', 'print JSON')
    .action(async (file: string, options: RestoreOptions) => {
      const { keyTo, passphraseFile, json } = options;
      if ((keyTo === undefined) !== (passphraseFile === undefined))
        throw new UsageError('--key-to and --passphrase-file are given together.');
      if (keyTo !== undefined && options.replace)
        throw new UsageError('--key-to only takes the key out: there is nothing to --replace.');
      const { restoreBackup, takeOutKey } = await backups();
      if (keyTo !== undefined && passphraseFile !== undefined) {
        await takeOutKey(file, { passphrase: passphraseFile, path: keyTo });
        if (json) printRecord({ keyFile: keyTo }, { json });
        return note(`Set ENCRYPTION_KEY_FILE=${keyTo} for the service, then restore.`);
      }
      const restored = await restoreBackup(file, { replace: options.replace === true });
      printRecord(restored, json ? { json } : {});
      note(restoredNote);
    });
}

const restoredNote =
  'Start the service: runs that were going on in the backup end with max_reconnects_exceeded, ' +
  'sessions go on asleep. API keys that were revoked since the backup are good again.';
