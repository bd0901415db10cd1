/** Five cron fields, evaluated in a time zone. */
export interface Schedule {
  cron: string;
  timezone: string;
}

/** A scheduled run has no request that could provide the prompt. */
export function lacksPrompt(flow: { schedule: Schedule | null; prompt: string | null }): boolean {
  return flow.schedule !== null && flow.prompt === null;
}

/** The invalid field and why; null if the schedule is valid. */
export function scheduleError({ cron, timezone }: Schedule): {
  field: keyof Schedule;
  message: string;
} | null {
  if (!isCron(cron)) {
    const message = 'must be five cron fields like "30 9 * * MON-FRI"';
    return { field: 'cron', message };
  }
  if (!everFires(cron)) {
    const message = 'never fires: no selected month has any of the selected days';
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
  /** Aliases of min, min + 1 and so on. */
  names: string[];
}

const monthNames = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const weekdayNames = 'SUN MON TUE WED THU FRI SAT'.split(' ');

const dayField: Field = { min: 1, max: 31, names: [] };
const monthField: Field = { min: 1, max: 12, names: monthNames };

const fields: Field[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  dayField,
  monthField,
  { min: 0, max: 6, names: weekdayNames },
];

const cronMaxChars = 200;

function isCron(text: string): boolean {
  if (text.length > cronMaxChars) return false;
  const parts = text.split(' ');
  return parts.length === fields.length && fields.every((field, i) => fits(field, parts[i] ?? ''));
}

/** A day of the month needs a month that has it. A day of the week must match as well, if given. */
function everFires(cron: string): boolean {
  const [, , ofMonth = '', months = ''] = cron.split(' ');
  const earliest = Math.min(...valuesOf(dayField, ofMonth));
  return valuesOf(monthField, months).some((month) => earliest <= (daysOf[month - 1] ?? 0));
}

/** February in a leap year. */
const daysOf = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Expects a part that `fits` accepts. */
function valuesOf(field: Field, part: string): number[] {
  return part.split(',').flatMap((item) => {
    const [range = '', step = '1'] = item.split('/');
    const [first = '', last = first] =
      range === '*' ? [`${field.min}`, `${field.max}`] : range.split('-');
    const [from, to] = [valueOf(field, first) ?? field.min, valueOf(field, last) ?? field.max];
    const count = Math.floor((to - from) / Number(step)) + 1;
    return Array.from({ length: count }, (_, index) => from + index * Number(step));
  });
}

/** A list of `*`, `3` and `3-5`; ranges may have a step like `/2`. */
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
