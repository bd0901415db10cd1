// Detects load from other programs. The same small computation is timed before every iteration; if
// it elapsedMs much longer than usual, the iteration does not count.

import { readFileSync } from 'node:fs';
import { median } from './statistics.ts';

export interface Noise {
  spinMs: number;
  /** The share of the last ten seconds in which a task waited for a CPU. Null if unknown. */
  pressure: number | null;
  /** Clock ticks that the hypervisor has stolen since boot. */
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

/** Returns which of the iterations started on a quiet machine. */
export function quietOnes(noises: readonly Noise[]): boolean[] {
  const usual = median(noises.map((noise) => noise.spinMs));
  return noises.map((noise) => noise.spinMs <= usual * busyFactor);
}

/** The fastest of several tries calibrates the amount of work to a quiet machine. */
function calibrate(): number {
  const probe = 2_000_000;
  const tries = Array.from({ length: 10 }, () => spin(probe));
  return Math.ceil((probe * spinMs) / Math.min(...tries));
}

function spin(rounds: number): number {
  const startedAt = performance.now();
  let mixed = rounds;
  for (let round = 0; round < rounds; round += 1) mixed = Math.imul(mixed ^ round, 0x9e3779b1);
  const elapsedMs = performance.now() - startedAt;
  return mixed === 0.5 ? 0 : elapsedMs; // never true; uses the result, so that the computation is not optimized away
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
