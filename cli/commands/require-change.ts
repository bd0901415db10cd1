import { UsageError } from '../format-error.ts';

/** A change of nothing would still be one to whoever counts versions. */
export const nothingToChange = (command: string) =>
  new UsageError(
    `Nothing is to be changed: say what by an option; flowrun ${command} --help lists them.`,
  );
