import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { mcpLimits } from '../../core/agent/mcp-limits.ts';
import type { CallApi } from './call-api.ts';
import * as fields from './tool-fields.ts';
import { dataOf, failure, failureOf, firstPart, lastPart } from './tool-result.ts';

const readOnly = { readOnlyHint: true } as const;

/** Tools that read the log and the files of a run. */
export function fileTools(server: McpServer, callApi: CallApi): void {
  server.registerTool(
    'run_transcript',
    {
      description: 'The last part of the log of a run, as text.',
      inputSchema: z.strictObject({ runId: fields.runId }),
      annotations: readOnly,
    },
    async ({ runId }) => {
      const path = `/api/v1/runs/${runId}/logs?order=desc&limit=${mcpLimits.framesMax}`;
      const response = await callApi({ method: 'GET', path });
      const log = dataOf(response) as { content: string } | null;
      return log === null ? failureOf(response) : text(lastPart(log.content));
    },
  );

  server.registerTool(
    'list_files',
    {
      description: 'The files in the working directory of a run, with their sizes in bytes.',
      inputSchema: z.strictObject({
        runId: fields.runId,
        prefix: z.string().min(1).optional().describe('Only paths that begin with this prefix.'),
      }),
      annotations: readOnly,
    },
    async ({ runId, prefix }) => {
      const query = prefix === undefined ? '' : `?prefix=${encodeURIComponent(prefix)}`;
      const response = await callApi({
        method: 'GET',
        path: `/api/v1/runs/${runId}/files${query}`,
      });
      const data = dataOf(response);
      return data === null ? failureOf(response) : text(firstPart(JSON.stringify(data)));
    },
  );

  server.registerTool(
    'read_file',
    {
      description: `The beginning of a text file of a run, at most ${mcpLimits.textMaxChars} bytes.`,
      inputSchema: z.strictObject({ runId: fields.runId, path: z.string().min(1) }),
      annotations: readOnly,
    },
    async ({ runId, path }) => {
      const segments = path.split('/');
      // Such a path would lead to another route.
      if (segments.some((one) => one === '.' || one === '..')) return failure(invalidPath);
      const encoded = segments.map(encodeURIComponent).join('/');
      const response = await callApi({
        method: 'GET',
        path: `/api/v1/runs/${runId}/files/${encoded}`,
        headers: { range: `bytes=0-${mcpLimits.textMaxChars - 1}` },
      });
      if (response.status >= 300 && response.status !== 416) return failureOf(response);
      if (response.text.includes('\0')) return failure('The file is not a text file.');
      return text(response.status === 416 ? '' : response.text);
    },
  );
}

const invalidPath = 'path: must not contain the segments "." and ".."';

const text = (content: string) => ({ content: [{ type: 'text' as const, text: content }] });
