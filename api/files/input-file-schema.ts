import { z } from 'zod';
import { checkInputPath, inputPathPattern } from '../../core/files/file-path.ts';
import { limits } from '../../core/limits.ts';

const path = z
  .string()
  .superRefine((value, context) => {
    const check = checkInputPath(value);
    if (!check.ok) context.addIssue({ code: 'custom', message: check.reason });
  })
  .meta({
    description: `Relative path with slashes, at most ${limits.file.pathMaxBytes} bytes.`,
    minLength: 1,
    maxLength: limits.file.pathMaxBytes,
    pattern: inputPathPattern,
  });

/** With padding, and without bits that decoding would lose. */
const base64 =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;

const inputFile = z
  .strictObject({
    path,
    content: z.string(),
    encoding: z.enum(['utf8', 'base64']),
    mode: z.enum(['0644', '0755']).optional(),
  })
  .meta({
    id: 'InputFile',
    not: {
      properties: { encoding: { const: 'base64' }, content: { not: { pattern: base64.source } } },
    },
  });

/** Files that a request adds to a working directory. Sizes are checked after decoding. */
export const inputFiles = z
  .array(inputFile)
  .max(limits.file.perRequestMax)
  .meta({
    uniqueItems: true,
    description:
      `At most ${limits.file.perRequestMax} files, ${limits.file.maxBytes} bytes each and ` +
      `${limits.file.perRequestMaxBytes} in total. A path matched by \`.flowignore\` is stored for this run only; ` +
      'any other becomes a file of the flow. A key with the scope `chat` and without `run` cannot add ' +
      'files of the flow.',
  });

export type InputFileBody = z.infer<typeof inputFile>;
