interface SurveyResult {
  /** For people. */
  text: string;
  /** For the result file. */
  data: object;
}

/** Figures that are reported but not compared with a limit. */
export interface Survey {
  id: string;
  title: string;
  run(): Promise<SurveyResult>;
}
