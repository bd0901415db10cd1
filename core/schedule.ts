/** When a flow runs by itself: five fields of cron, read in a time zone. */
export interface Schedule {
  cron: string;
  timezone: string;
}

/** Nobody is there to bring a prompt when a schedule starts a run. */
export function lacksPrompt(flow: { schedule: Schedule | null; prompt: string | null }): boolean {
  return flow.schedule !== null && flow.prompt === null;
}

/** What is wrong with a schedule, and where; null where nothing is. */
export function scheduleFault({ cron, timezone }: Schedule): {
  field: keyof Schedule;
  message: string;
} | null {
  if (!isCron(cron)) {
    const message = 'must be five fields of cron like "30 9 * * MON-FRI"';
    return { field: 'cron', message };
  }
  if (!isTimezone(timezone)) {
    return { field: 'timezone', message: 'must be a time zone like Europe/Berlin or UTC' };
  }
  return null;
}

interface Field {
  min: number;
  max: number;
  /** Stand for min, min + 1 and so on. */
  names: string[];
}

const months = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const weekdays = 'SUN MON TUE WED THU FRI SAT'.split(' ');

const fields: Field[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: weekdays },
];

const cronMaxChars = 200;

function isCron(text: string): boolean {
  if (text.length > cronMaxChars) return false;
  const parts = text.split(' ');
  return parts.length === fields.length && fields.every((field, i) => fits(field, parts[i] ?? ''));
}

/** A list of `*`, `3`, `3-5`, each with a step like `/2` if it is a range. */
function fits(field: Field, part: string): boolean {
  return part.split(',').every((item) => {
    const match = /^(?:(\*)|([A-Z0-9]+)(?:-([A-Z0-9]+))?)(?:\/(\d{1,2}))?$/i.exec(item);
    if (match === null) return false;
    const [, star, first = '', last, step] = match;
    if (step !== undefined && (Number(step) < 1 || (star === undefined && last === undefined)))
      return false;
    if (star !== undefined) return true;
    const from = valueOf(field, first);
    const to = last === undefined ? from : valueOf(field, last);
    return from !== null && to !== null && from <= to;
  });
}

function valueOf({ min, max, names }: Field, text: string): number | null {
  const named = names.indexOf(text.toUpperCase());
  const value = named >= 0 ? named + min : /^\d{1,2}$/.test(text) ? Number(text) : -1;
  return value >= min && value <= max ? value : null;
}

function isTimezone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
