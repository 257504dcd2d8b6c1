import { isObject, type JsonObject } from '../../lib/json.ts'
import { textOf } from './assistant-parse.ts'

/** The readable thoughts of a message or a delta, under whatever name the vendor has for them; some vendors send two of them. */
export function thoughtText({ reasoning_content, reasoning, reasoning_text, thinking, content }: JsonObject): string {
  return (
    said(reasoning_content) ||
    said(reasoning) ||
    said(reasoning_text) || // GitHub Copilot
    said(thinking) ||
    (Array.isArray(content) ? content.map(thoughtIn).join('') : '')
  )
}

/** Mistral: `{ type: 'thinking', thinking: [{ type: 'text', text }] }`; Databricks: `{ type: 'reasoning', summary: [{ text }] }`. */
function thoughtIn(part: unknown): string {
  if (!isObject(part)) return ''
  if (part.type === 'thinking') return textOf(part.thinking)
  return part.type === 'reasoning' ? textOf(part.summary) : ''
}

/** Do details of thoughts, as OpenRouter gives them, say anything readable themselves? */
export const isReadable = (details: readonly JsonObject[]): boolean =>
  details.some(({ text, summary }) => said(text) !== '' || said(summary) !== '')

const said = (value: unknown): string => (typeof value === 'string' ? value : '')
