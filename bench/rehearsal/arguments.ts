import { parseArgs } from 'node:util';
import { SetupError } from '../../dev/lib/setup-error.ts';

/** The first argument of `npm run bench` that selects the rehearsal. */
export const rehearsalCommand = 'rehearsal';

export interface RehearsalSize {
  runs: number;
  sessions: number;
  messages: number;
  workers: number;
  /** How long idleness is measured. The figures are scaled to 60 s. */
  idleSeconds: number;
}

/** Small enough for two cores. */
const defaults: RehearsalSize = {
  runs: 200,
  sessions: 200,
  messages: 400,
  workers: 3,
  idleSeconds: 60,
};

/** `args`: the arguments after the command. */
export function readRehearsalArguments(args: string[]): RehearsalSize {
  const values = parse(args);
  const of = (name: keyof RehearsalSize): number => number(values[flagOf(name)], name);
  return {
    runs: of('runs'),
    sessions: of('sessions'),
    messages: of('messages'),
    workers: of('workers'),
    idleSeconds: of('idleSeconds'),
  };
}

const flagOf = (name: string): string => name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);

function parse(args: string[]): Record<string, string | undefined> {
  const options = Object.fromEntries(
    Object.keys(defaults).map((name) => [flagOf(name), { type: 'string' as const }]),
  );
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new SetupError(error instanceof Error ? error.message : String(error));
  }
}

function number(text: string | undefined, name: keyof RehearsalSize): number {
  if (text === undefined) return defaults[name];
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new SetupError(`--${flagOf(name)} takes a positive number, not ${text}.`);
}
