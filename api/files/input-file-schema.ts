import { z } from 'zod';
import { checkInputPath } from '../../core/files/file-path.ts';
import { limits } from '../../core/limits.ts';

const path = z
  .string()
  .superRefine((value, context) => {
    const check = checkInputPath(value);
    if (!check.ok) context.addIssue({ code: 'custom', message: check.reason });
  })
  .meta({ description: `Relative path with slashes, at most ${limits.filePathMaxBytes} bytes.` });

const inputFile = z
  .strictObject({
    path,
    content: z.string(),
    encoding: z.enum(['utf8', 'base64']),
    mode: z.enum(['0644', '0755']).optional(),
  })
  .meta({ id: 'InputFile' });

/** Files that a request adds to a working directory. Sizes are checked after decoding. */
export const inputFiles = z
  .array(inputFile)
  .max(limits.filesPerRequestMax)
  .meta({
    description:
      `At most ${limits.filesPerRequestMax} files, ${limits.fileMaxBytes} bytes each and ` +
      `${limits.filesPerRequestMaxBytes} in total. A path matched by \`.flowignore\` is stored for this run only; ` +
      'any other becomes a file of the flow.',
  });

export type InputFileBody = z.infer<typeof inputFile>;
