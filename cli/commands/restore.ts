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
    .description('restore the database from a backup, or extract the key from it')
    .argument('<file>', 'the backup')
    .option('--replace', 'discard the content of a non-empty database')
    .option('--key-to <path>', 'only write the encryption key of the backup to this file')
    .option(
      '--passphrase-file <path>',
      'file with the passphrase of the key; - is standard input',
      passphraseIn,
    )
    .option('--json', 'print JSON')
    .action(async (file: string, options: RestoreOptions) => {
      const { keyTo, passphraseFile, json } = options;
      if ((keyTo === undefined) !== (passphraseFile === undefined))
        throw new UsageError('--key-to and --passphrase-file must be used together.');
      if (keyTo !== undefined && options.replace)
        throw new UsageError('--key-to only extracts the key and cannot be used with --replace.');
      const { restoreBackup, extractKey } = await backups();
      if (keyTo !== undefined && passphraseFile !== undefined) {
        await extractKey(file, { passphrase: passphraseFile, path: keyTo });
        if (json) printRecord({ keyFile: keyTo }, { json });
        return note(`Set ENCRYPTION_KEY_FILE=${keyTo} for the service, then restore.`);
      }
      const restored = await restoreBackup(file, { replace: options.replace === true });
      printRecord(restored, json ? { json } : {});
      note(restoredNote);
    });
}

const restoredNote =
  'Start the service. Runs that were active in the backup end with max_reconnects_exceeded; ' +
  'sessions continue asleep. API keys revoked after the backup become valid again. Revoke them again.';
