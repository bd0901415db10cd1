import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { redact, redactText } from '../core/redact.ts';
import type { LogLevel } from './variables.ts';

export type { Logger } from 'pino';

export interface LoggerOptions {
  level: LogLevel;
  name: string;
}

/**
 * JSON lines on standard output. Redaction looks at the finished line, so it holds for every way
 * into it: fields, messages, errors and what hangs on them, serialisers, bindings of children.
 */
export function createLogger(
  { level, name }: LoggerOptions,
  destination?: DestinationStream,
): Logger {
  return pino(
    {
      level,
      base: { name },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redactLine },
    },
    destination ?? pino.destination({ dest: 1, sync: true }),
  );
}

function redactLine(line: string): string {
  try {
    return `${JSON.stringify(redact(JSON.parse(line)))}\n`;
  } catch {
    return redactText(line);
  }
}
