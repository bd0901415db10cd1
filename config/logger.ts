import {
  type DestinationStream,
  type Logger,
  type LoggerOptions as LoggerSettings,
  pino,
  stdTimeFunctions,
} from 'pino';
import { redact, redactText } from '../core/runs/redact.ts';
import type { LogLevel } from './variable-types.ts';

export type { Logger } from 'pino';

interface LoggerOptions {
  level: LogLevel;
  name: string;
  /** Called for every line with its level and event. */
  onLine?: ((level: string, event: string) => void) | undefined;
}

/**
 * JSON lines on standard output. Redaction runs on the finished line, so it covers fields,
 * messages, errors with their properties, serializers and child bindings alike.
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
      hooks: { streamWrite: redactLine, ...(onLine && { logMethod: callingBack(onLine) }) },
    },
    destination ?? pino.destination({ dest: 1, sync: true }),
  );
}

function callingBack(onLine: NonNullable<LoggerOptions['onLine']>): LogFn {
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
