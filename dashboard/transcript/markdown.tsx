// Markdown as elements. Nothing is parsed as HTML: tags are shown as text, images become links, and
// a link leads to http, https or mail only.

import { Lexer, type Token, type Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { stripControlCodes } from '../../core/sanitize-text.ts';
import { isCostly } from './is-costly.ts';
import { LongText } from './long-text.tsx';

/** What is nested deeper is shown as it is. */
const maxDepth = 12;

export function Markdown({ text }: { text: string }) {
  const tokens = isCostly(text) ? null : lex(stripControlCodes(text));
  if (tokens === null) return <LongText text={text} />;
  return <div class="markdown">{blocks(tokens, 0)}</div>;
}

function lex(text: string): Token[] | null {
  try {
    return Lexer.lex(text, { gfm: true });
  } catch {
    return null; // nested too deeply
  }
}

/** The tokens of the lexer, which have the types of its package. */
function blocks(tokens: readonly Token[], depth: number): ComponentChildren {
  if (depth > maxDepth) return tokens.map(({ raw }) => raw).join('');
  return tokens.map((token, key) => <Block key={key} token={token as MarkedToken} depth={depth} />);
}

type MarkedToken =
  | Tokens.Heading
  | Tokens.Paragraph
  | Tokens.Code
  | Tokens.Blockquote
  | Tokens.List
  | Tokens.Table
  | Tokens.Hr
  | Tokens.Space
  | Tokens.Text;

function Block({ token, depth }: { token: MarkedToken; depth: number }) {
  switch (token.type) {
    case 'heading':
      return <p class="heading">{inlines(token.tokens, depth)}</p>;
    case 'paragraph':
      return <p>{inlines(token.tokens, depth)}</p>;
    case 'text':
      return <>{token.tokens === undefined ? token.text : inlines(token.tokens, depth)}</>;
    case 'code':
      return <pre tabIndex={0}>{token.text}</pre>;
    case 'blockquote':
      return <blockquote>{blocks(token.tokens, depth + 1)}</blockquote>;
    case 'list':
      return <List list={token} depth={depth} />;
    case 'table':
      return <Table table={token} depth={depth} />;
    case 'hr':
      return <hr />;
    case 'space':
      return null;
    default:
      return <p>{rawOf(token)}</p>;
  }
}

const rawOf = (token: { raw: string }): string => token.raw;

function List({ list, depth }: { list: Tokens.List; depth: number }) {
  const items = list.items.map((item, key) => (
    <li key={key}>
      {item.task && (item.checked === true ? '☑ ' : '☐ ')}
      {blocks(item.tokens, depth + 1)}
    </li>
  ));
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table, depth }: { table: Tokens.Table; depth: number }) {
  return (
    <div class="scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.header.map(({ tokens }, key) => (
              <th key={key}>{inlines(tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, key) => (
            <tr key={key}>
              {row.map(({ tokens }, at) => (
                <td key={at}>{inlines(tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type InlineToken =
  | Tokens.Strong
  | Tokens.Em
  | Tokens.Del
  | Tokens.Codespan
  | Tokens.Br
  | Tokens.Link
  | Tokens.Image
  | Tokens.Escape
  | Tokens.Text;

function inlines(tokens: readonly Token[] = [], depth = 0): ComponentChildren {
  if (depth > maxDepth) return tokens.map(({ raw }) => raw).join('');
  return tokens.map((token, key) => (
    <Inline key={key} token={token as InlineToken} depth={depth + 1} />
  ));
}

function Inline({ token, depth }: { token: InlineToken; depth: number }) {
  switch (token.type) {
    case 'strong':
      return <strong>{inlines(token.tokens, depth)}</strong>;
    case 'em':
      return <em>{inlines(token.tokens, depth)}</em>;
    case 'del':
      return <del>{inlines(token.tokens, depth)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <Link href={token.href}>{inlines(token.tokens, depth)}</Link>;
    case 'image':
      return <Link href={token.href}>{`[image: ${token.text || 'no text'}]`}</Link>;
    case 'escape':
      return <>{token.text}</>;
    case 'text':
      return <>{token.tokens === undefined ? token.text : inlines(token.tokens, depth)}</>;
    default:
      return <>{rawOf(token)}</>;
  }
}

function Link({ href, children }: { href: string; children: ComponentChildren }) {
  if (!isSafe(href)) return <>{children}</>;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

const isSafe = (href: string): boolean =>
  URL.canParse(href) && ['http:', 'https:', 'mailto:'].includes(new URL(href).protocol);
