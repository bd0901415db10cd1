import type { Row } from './table.ts';
import { three } from './table.ts';

const width = 760;
const labelWidth = 110;
const valueWidth = 130;
const rowHeight = 26;
const margin = 34;
const colors = { met: '#1a7f37', missed: '#cf222e', other: '#57606a' };

/**
 * One dot with its interval for each target, on a logarithmic axis of ratios with a line at 1. The
 * short vertical line is the goal. Targets of which more is better are shown inverted, so that left
 * is always better.
 */
export function chartOf(rows: Row[]): string {
  const shown = rows.map(toShown);
  const ends = shown.flatMap(({ low, high, goal }) => [low, high, goal, 1]);
  const scale = logScale(Math.min(...ends) / 1.15, Math.max(...ends) * 1.15);
  const height = margin * 2 + rows.length * rowHeight;
  const lines = shown.map((row, index) => rowOf(row, scale, margin + (index + 0.5) * rowHeight));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...ticksOf(scale, height),
    ...lines,
    `<text x="${labelWidth}" y="${height - 4}" fill="${colors.other}" font-size="11">ratio to the limit, 95 % interval; left is better; | is the goal</text>`,
    '</svg>\n',
  ].join('\n');
}

interface Shown {
  id: string;
  text: string;
  color: string;
  ratio: number;
  low: number;
  high: number;
  goal: number;
}

function toShown({ measurement: { target }, summary, missesGoal }: Row): Shown {
  const { ratio, interval } = summary;
  const isInverted = target.better === 'more';
  const invert = (value: number): number => (isInverted ? 1 / value : value);
  const [low, high] = isInverted
    ? [invert(interval.high), invert(interval.low)]
    : [interval.low, interval.high];
  return {
    id: target.id,
    text: `${isInverted ? '1 / ' : ''}${three(ratio)}`,
    color: missesGoal ? colors.missed : colors.met,
    ratio: invert(ratio),
    low,
    high,
    goal: invert(target.goal),
  };
}

type Scale = { x(value: number): number; low: number; high: number };

function logScale(low: number, high: number): Scale {
  const span = Math.log(high / low);
  const room = width - labelWidth - valueWidth;
  return { low, high, x: (value) => labelWidth + (Math.log(value / low) / span) * room };
}

function ticksOf({ x, low, high }: Scale, height: number): string[] {
  const marks = [0.0001, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
  return marks
    .filter((mark) => mark >= low && mark <= high)
    .flatMap((mark) => {
      const at = one(x(mark));
      const [stroke, strokeWidth] = mark === 1 ? ['#24292f', 1.5] : ['#d0d7de', 1];
      return [
        `<line x1="${at}" x2="${at}" y1="${margin - 8}" y2="${height - margin}" stroke="${stroke}" stroke-width="${strokeWidth}"/>`,
        `<text x="${at}" y="${margin - 14}" text-anchor="middle" fill="${colors.other}" font-size="11">${mark}</text>`,
      ];
    });
}

function rowOf({ id, text, color, ...row }: Shown, { x }: Scale, y: number): string {
  const [low, high, at, goal] = [row.low, row.high, row.ratio, row.goal].map((value) =>
    one(x(value)),
  );
  return [
    `<text x="8" y="${y + 4}" fill="#24292f">${id}</text>`,
    `<line x1="${low}" x2="${high}" y1="${y}" y2="${y}" stroke="${color}" stroke-width="3" stroke-linecap="round"/>`,
    `<line x1="${goal}" x2="${goal}" y1="${y - 7}" y2="${y + 7}" stroke="${colors.other}" stroke-width="1.5"/>`,
    `<circle cx="${at}" cy="${y}" r="5" fill="${color}"/>`,
    `<text x="${width - valueWidth + 12}" y="${y + 4}" fill="#24292f">${text}</text>`,
  ].join('\n');
}

const one = (value: number): string => value.toFixed(1);
