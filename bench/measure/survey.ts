import type { BenchOptions } from '../arguments.ts';

export interface SurveyResult {
  /** For a person. */
  text: string;
  /** For the file. */
  data: object;
}

/** Figures that are told and not compared. */
export interface Survey {
  id: string;
  title: string;
  run(wish: BenchOptions): Promise<SurveyResult>;
}
