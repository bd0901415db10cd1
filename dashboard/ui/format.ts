// Numbers and times as a reader sees them.

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The time since a moment, in its largest unit. */
export function ageText(ms: number): string {
  if (ms < 10 * second) return 'now';
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < day) return `${Math.floor(ms / hour)} h`;
  return `${Math.floor(ms / day)} d`;
}

/** A duration as 0:42, 12:05 or 1:02:03. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / second));
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours = 0, minutes = 0, rest = 0] = parts;
  const padded = (value: number): string => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${padded(minutes)}:${padded(rest)}` : `${minutes}:${padded(rest)}`;
}

/** Small amounts keep the digits that make them differ from zero. */
export function dollarText(dollars: number): string {
  if (dollars === 0) return '$0';
  if (dollars < 0.0001) return '<$0.0001';
  const digits = dollars < 0.1 ? 4 : 2;
  return `$${dollars.toFixed(digits)}`;
}

export function countText(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 1_000_000) return `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  if (bytes < 1_024 ** 2) return `${(bytes / 1_024).toFixed(1)} KiB`;
  if (bytes < 1_024 ** 3) return `${(bytes / 1_024 ** 2).toFixed(1)} MiB`;
  return `${(bytes / 1_024 ** 3).toFixed(1)} GiB`;
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** The first part of an ID, which tells IDs apart for a reader. */
export const shortId = (id: string): string => id.slice(0, 8);
