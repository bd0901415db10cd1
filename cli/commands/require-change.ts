import { UsageError } from '../format-error.ts';

/** An empty update is rejected, because it would still increment the version. */
export const nothingToUpdate = (command: string) =>
  new UsageError(
    `Nothing to update. Pass at least one option (see \`flowrun ${command} --help\`).`,
  );
