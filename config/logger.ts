import {
  type DestinationStream,
  type Logger,
  type LoggerOptions as LoggerSettings,
  pino,
  stdTimeFunctions,
} from 'pino';
import { redact, redactText } from '../core/runs/redact.ts';
import type { LogLevel } from './variables.ts';

export type { Logger } from 'pino';

export interface LoggerOptions {
  level: LogLevel;
  name: string;
  /** Told of every line that is written: its level, and the event that it is about. */
  onLine?: ((level: string, event: string) => void) | undefined;
}

/**
 * JSON lines on standard output. Redaction looks at the finished line, so it holds for every way
 * into it: fields, messages, errors and what hangs on them, serialisers, bindings of children.
 */
export function createLogger(
  { level, name, onLine }: LoggerOptions,
  destination?: DestinationStream,
): Logger {
  return pino(
    {
      level,
      base: { name },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redactLine, ...(onLine && { logMethod: telling(onLine) }) },
    },
    destination ?? pino.destination({ dest: 1, sync: true }),
  );
}

function telling(onLine: NonNullable<LoggerOptions['onLine']>): LogFn {
  return function log(args, method, level) {
    const event = args.length > 1 ? args[1] : args[0];
    onLine(pino.levels.labels[level] ?? 'other', typeof event === 'string' ? event : '');
    method.apply(this, args);
  };
}

type LogFn = NonNullable<NonNullable<LoggerHooks>['logMethod']>;
type LoggerHooks = LoggerSettings['hooks'];

function redactLine(line: string): string {
  try {
    return `${JSON.stringify(redact(JSON.parse(line)))}\n`;
  } catch {
    return redactText(line);
  }
}
