import type { FileProblem } from './front-matter.ts';
import type { FlowFile } from './parse-flow-file.ts';

/** The errors of the service about the fields of a flow, with their places in its file. */
export function serviceProblems({ file, lineOf }: FlowFile, message: string): FileProblem[] {
  const parts = message.split(/; (?=body[.:])/);
  return parts.map((part) => {
    const [, field, fault] = /^body\.([^:]+): (.*)$/s.exec(part) ?? [];
    if (field === undefined || fault === undefined)
      return { file, line: 1, field: null, message: part };
    return { file, line: lineOf(field.split('.')), field, message: fault };
  });
}

/** One line for each problem, in the form that editors and CI systems recognize. */
export const formatProblems = (problems: readonly FileProblem[]): string =>
  problems
    .map(({ file, line, field, message }) =>
      [`${file}:${line}`, ...(field === null ? [] : [field]), message].join(': '),
    )
    .join('\n');
