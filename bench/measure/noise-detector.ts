// Tells when the machine was busy with something else: the same small piece of work is timed before
// every iteration, and where it took much longer than it usually does the iteration does not count.

import { readFileSync } from 'node:fs';
import { median } from './statistics.ts';

export interface Noise {
  spinMs: number;
  /** Of the last ten seconds, the share in which somebody waited for a processor; null where unknown. */
  pressure: number | null;
  /** Clock ticks that the machine's own host has taken away since it was started. */
  stealTicks: number | null;
}

interface NoiseDetector {
  look(): Noise;
}

const spinMs = 20;
const busyFactor = 1.25;

export function createNoiseDetector(): NoiseDetector {
  const rounds = calibrate();
  return {
    look: () => ({ spinMs: spin(rounds), pressure: readPressure(), stealTicks: readSteal() }),
  };
}

/** Which of the iterations began on a quiet machine. */
export function quietOnes(noises: readonly Noise[]): boolean[] {
  const usual = median(noises.map((noise) => noise.spinMs));
  return noises.map((noise) => noise.spinMs <= usual * busyFactor);
}

/** The fastest of some tries tells how much work fits into the time on a quiet machine. */
function calibrate(): number {
  const probe = 2_000_000;
  const tries = Array.from({ length: 10 }, () => spin(probe));
  return Math.ceil((probe * spinMs) / Math.min(...tries));
}

function spin(rounds: number): number {
  const begun = performance.now();
  let mixed = rounds;
  for (let round = 0; round < rounds; round += 1) mixed = Math.imul(mixed ^ round, 0x9e3779b1);
  const took = performance.now() - begun;
  return mixed === 0.5 ? 0 : took; // never: the result is used, so that the work is not left out
}

function readPressure(): number | null {
  const match = /^some avg10=([\d.]+)/.exec(readText('/proc/pressure/cpu'));
  return match === null ? null : Number(match[1]) / 100;
}

function readSteal(): number | null {
  const match = /^cpu +(?:\d+ +){7}(\d+)/.exec(readText('/proc/stat'));
  return match === null ? null : Number(match[1]);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
